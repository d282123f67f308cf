const signs: Record<string, string> = {
  ...{ "≤": "\\le ", "≥": "\\ge ", "≠": "\\ne ", "∞": "\\infty ", "∪": "\\cup ", "∩": "\\cap ", π: "\\pi " },
  ...{ "×": "\\times ", "·": "\\cdot ", "±": "\\pm ", "−": "-" },
};

/** Longer texts are read as they are. */
const longest = 200;

/**
 * A text as math-verify 0.9.0 can read it, where it would misread it: powers of ten as programs write them (1e3), angles in degrees
 * in trigonometric functions (tan 45°), mathematics that stands there bare (x\le5, x ≤ 5).
 */
export function mended(text: string): string {
  return marked(degrees(powersOfTen(text)));
}

/** 1.5e3 is 1500: it would be read as 1.5 · e · 3. */
function powersOfTen(text: string): string {
  return text.replace(
    /(?<![\w.\\])(\d+(?:\.\d+)?)[eE]([+-]?\d{1,2})(?![\w.]*\w)/g,
    (_, digits: string, exponent: string) => shifted(digits, Number(exponent)),
  );
}

/** Digits with their point moved by some places. */
function shifted(digits: string, places: number): string {
  const [whole = "", decimals = ""] = digits.split(".");
  const point = whole.length + places;
  const all = whole + decimals;
  if (point <= 0) return `0.${"0".repeat(-point)}${all}`;
  if (point >= all.length) return all + "0".repeat(point - all.length);
  return `${all.slice(0, point)}.${all.slice(point)}`;
}

const sign = "(?:°|\\^\\s*\\\\circ|\\^\\s*\\{\\s*\\\\circ\\s*\\}|\\\\degree|degrees)";
const angle = new RegExp(
  `\\\\?\\b(sin|cos|tan|cot|sec|csc)\\s*(\\(|\\{)?\\s*(\\d+(?:\\.\\d+)?)\\s*${sign}\\s*([)}])?`,
  "g",
);

/** tan 45° is tan(45π/180): the degrees would be lost. */
function degrees(text: string): string {
  return text.replace(angle, (_, name: string, open: string | undefined, size: string, close = "") => {
    const after = open === undefined ? close : "";
    return `\\${name}(\\frac{${size}\\pi}{180})${after}`;
  });
}

/** Bare mathematics on one line, in marks: else no expression is found in it. */
function marked(text: string): string {
  if (text.length > longest || /[$\n]|\\boxed|\\\(|\\\[/.test(text)) return text;
  const written = text.replace(/[≤≥≠∞∪∩π×·±−]/g, (sign) => signs[sign] ?? sign);
  const isLatex =
    /\\[a-zA-Z]+/.test(written) && !/[a-zA-Z]{3,}/.test(written.replace(/\\[a-zA-Z]+(\{[a-zA-Z ]*\})?/g, ""));
  return isLatex || isFormula(written) ? `$${written.trim()}$` : text;
}

/** Letters that stand alone, with signs between them, and no word: x + 1, but neither 7 m^2, nor A, nor a program's x**2. */
function isFormula(text: string): boolean {
  const isPlain = /^[\w\s.,+\-*/^=<>()|{}[\]]+$/.test(text) && !/[a-zA-Z]{2}|\d\s+[a-zA-Z]|\*\*/.test(text);
  return isPlain && /[a-zA-Z]/.test(text) && /[\w)}]\s*[+\-*/^=<>]\s*[\w({+-]/.test(text);
}
