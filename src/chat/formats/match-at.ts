/** What a sticky expression matches at a place of a text, and where that ends. */
export function matchAt(
  pattern: RegExp,
  text: string,
  at: number,
): { groups: readonly (string | undefined)[]; end: number } | undefined {
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  return found === null ? undefined : { groups: found.slice(1), end: pattern.lastIndex };
}
