/** A sticky expression's match at an offset, and where it ends. */
export function matchAt(
  pattern: RegExp,
  text: string,
  at: number,
): { groups: readonly (string | undefined)[]; end: number } | undefined {
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  return found === null ? undefined : { groups: found.slice(1), end: pattern.lastIndex };
}
