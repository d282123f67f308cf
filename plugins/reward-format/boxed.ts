const opening = "\\boxed{";

/** Whether a text has exactly one `\boxed{…}` with balanced braces and content. */
export function boxedForm(text: string): boolean {
  const start = text.indexOf(opening);
  if (start < 0 || text.includes(opening, start + opening.length)) return false;
  let depth = 1;
  for (let at = start + opening.length; at < text.length; at++) {
    const character = text[at];
    if (character === "\\")
      at++; // \{ and \} are not braces
    else if (character === "{") depth++;
    else if (character === "}" && --depth === 0) return text.slice(start + opening.length, at).trim() !== "";
  }
  return false;
}
