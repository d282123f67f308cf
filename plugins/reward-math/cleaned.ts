/** Separators between thousands in LaTeX: 1{,}234, 1,\!234, 1\,234. */
const separator = /(\d)(?:\{,\}|,\\!\s?|\\[,;!])(?=\d{3}(?!\d))/g;

/**
 * Removes what is not part of a text's mathematics: a dollar sign for money, separators between thousands, a
 * point or comma at the end. Minus signs become ASCII, empty sets `\emptyset`, degrees `^\circ`.
 */
export function cleaned(text: string): string {
  const plain = text
    .replace(/\\\$/g, "")
    .replace(separator, "$1")
    .replace(/\u2212|\u2013(?=\s?[\d.\\])/g, "-")
    .replace(/\s*°/g, "^\\circ ")
    .replace(/\\varnothing|\\\{\s*\\\}|∅/g, "\\emptyset ")
    .replace(/(?<!\\)~/g, " ");
  const isMoney = plain.split("$").length === 2;
  return (isMoney ? plain.replace("$", "") : plain).trim().replace(/(?<![\\.\s])\s*[.,;]$/, "");
}
