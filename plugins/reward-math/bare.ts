const signs: Readonly<Record<string, string>> = {
  "≤": "\\le ",
  "≥": "\\ge ",
  "≠": "\\ne ",
  "∞": "\\infty ",
  "∪": "\\cup ",
  "∩": "\\cap ",
  "∈": "\\in ",
  π: "\\pi ",
  "×": "\\times ",
  "·": "\\cdot ",
  "±": "\\pm ",
};

/** Longer texts are not converted. */
const longest = 200;
/** Two-letter words that are not products of two variables. */
const short = /\b(?:a[mnst]|be|by|[ckm]m|do|ft|[gw]e|he|i[fnst]|kg|m[lye]|no|o[fhnr]|s[oq]|to|u[psn])\b/i;

/**
 * Puts a text that consists of mathematics between dollar signs, in LaTeX. Without them, math-verify finds no
 * expression in it, or only one of its numbers. Undefined if the text is something else, such as a sentence,
 * a name, or a number with its unit.
 */
export function bareFormula(text: string): string | undefined {
  if (text.length > longest || /[$\n]|\\boxed|\\\(|\\\[/.test(text)) return undefined;
  const written = text
    .replace(/[≤≥≠∞∪∩∈π×·±]/g, (sign) => signs[sign] ?? sign)
    .replace(/√\s*(\w+)/g, "\\sqrt{$1}")
    .replace(/√\s*\(/g, "sqrt(")
    .replace(/(?<=\S)\s+(?:and|or)\s+(?=\S)/g, ", ")
    .trim();
  const isLatex =
    /\\[a-zA-Z]+/.test(written) && !/[a-zA-Z]{3,}/.test(written.replace(/\\[a-zA-Z]+(\{[a-zA-Z ]*\})?/g, ""));
  if (isLatex) return `$${written}$`;
  return isFormula(written) ? `$${latexOf(written)}$` : undefined;
}

/**
 * Whether a text is a formula or a list of numbers as programs and people write them: x + 1, 2*sqrt(3), (3,
 * 4), {1, 2}, but not 7 m^2, A or 1/2.
 */
function isFormula(text: string): boolean {
  const letters = text.replace(/\b(?:sqrt|pi|sin|cos|tan|log|ln|exp)\b/g, "x");
  if (!/^[\w\s.,;:+\-*/^=<>()|{}[\]]+$/.test(letters) || /[a-zA-Z]{3}/.test(letters) || short.test(letters))
    return false;
  const isList = /\d\s*[,;]\s*[-+(\w]|^[([{].*[,;].*[)\]}]$/.test(letters);
  if (!/[a-zA-Z]/.test(letters)) return isList;
  return !/\d\s+[a-zA-Z]/.test(letters) && (isList || /[\w)}]\s*[+\-*/^=<>]+\s*[\w({+-]/.test(letters));
}

/** Converts a program's formula to LaTeX. {1, 2} is a set. */
function latexOf(text: string): string {
  return text.replace(/^\{(.*)\}$/, "\\{$1\\}").replace(/\b(pi|sin|cos|tan|log|ln|exp)\b/g, "\\$1 ");
}
