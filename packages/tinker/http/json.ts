import { TinkerError } from "../errors.ts";

/** An object of a JSON answer, whose values are not checked yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value that must be an object. Throws `bad-answer`; `what` names the value. */
export function fieldsOf(value: unknown, what: string): Fields {
  if (isFields(value)) return value;
  throw badAnswer(`${what} is not an object`);
}

/** A property that must be a text. Throws `bad-answer`. */
export function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value === "string") return value;
  throw badAnswer(`the answer has no text “${name}”`);
}

/** A property that may be a text; undefined if it is missing, null or something else. */
export function optionalText(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === "string" ? value : undefined;
}

/** A property that may be a finite number; undefined if it is missing, null or something else. */
export function optionalNumber(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  return typeof value === "number" ? value : undefined;
}

/** A property that must be a list. Throws `bad-answer`. */
export function listOf(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  if (Array.isArray(value)) return value;
  throw badAnswer(`the answer has no list “${name}”`);
}

/** The numbers of an object; other values are left out, and null is NaN. */
export function numbersOf(value: unknown): Record<string, number> {
  if (!isFields(value)) return {};
  const numbers: Record<string, number> = {};
  for (const [name, one] of Object.entries(value)) {
    if (typeof one === "number") numbers[name] = one;
    else if (one === null) numbers[name] = Number.NaN;
  }
  return numbers;
}

/** An answer that this client can't read. */
export function badAnswer(problem: string, cause?: unknown): TinkerError {
  const message = `Unreadable answer: ${problem}. Check that the address is a Tinker server's, without a proxy that changes answers.`;
  return new TinkerError("bad-answer", message, { cause });
}
