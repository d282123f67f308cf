/** What stands in the last \boxed{} of a text, with the braces in it. */
export function lastBoxed(text: string): string | undefined {
  const begin = text.lastIndexOf("\\boxed{");
  if (begin < 0) return undefined;
  const from = begin + "\\boxed{".length;
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "{") depth++;
    if (text[at] === "}") depth--;
    if (depth === 0) return text.slice(from, at);
  }
  return undefined;
}
