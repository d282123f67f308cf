/**
 * How deep lists and objects may nest. Code that reads, writes and checks JSON recurses, and its stack is limited.
 */
export const deepest = 500;

/** A JSON text whose lists and objects nest more than `deepest` levels deep. */
export class NestedTooDeepError extends SyntaxError {
  override readonly name = "NestedTooDeepError";

  constructor() {
    super(`lists and objects are nested more than ${deepest} levels deep`);
  }
}

/** Whether the lists and objects of a JSON value nest more than `deepest` levels deep. */
export function isNestedTooDeep(value: unknown): boolean {
  let level = [value].filter(isContainer);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > deepest) return true;
    level = level.flatMap((one) => Object.values(one).filter(isContainer));
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
