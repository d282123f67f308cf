/** Where the JSON string ends whose opening quote stands just before `from`: the place of its closing quote, or -1. */
export function stringEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  }
  return -1;
}
