/**
 * The offset of the closing quote of a JSON string whose opening quote is just before `from`; -1 if it does not end.
 */
export function stringEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  }
  return -1;
}
