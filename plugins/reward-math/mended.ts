/**
 * Rewrites a text that math-verify 0.9.0 would misread: powers as programs write them (1e3, x**2), recurring
 * decimals (0.\overline{3}), mixed numbers (2 1/3), angles in degrees in trigonometric functions (tan 45°).
 */
export function mended(text: string): string {
  return degrees(recurring(mixed(powersOfTen(powers(text)))));
}

/** Rewrites x**2 as x^{2}. */
function powers(text: string): string {
  return text.replace(/(?<=[\w)])(?:\*\*| \*\* )(\w+|(?=\())/g, (_, exponent: string) =>
    exponent === "" ? "^" : `^{${exponent}}`,
  );
}

/** Rewrites 1.5e3 as 1500, which would be read as 1.5 · e · 3. */
function powersOfTen(text: string): string {
  return text.replace(
    /(?<![\w.\\])(\d+(?:\.\d+)?)[eE]([+-]?\d{1,2})(?![\w.]*\w)/g,
    (_, digits: string, exponent: string) => shifted(digits, Number(exponent)),
  );
}

/** Digits with their decimal point moved by some places. */
function shifted(digits: string, places: number): string {
  const [whole = "", decimals = ""] = digits.split(".");
  const point = whole.length + places;
  const all = whole + decimals;
  if (point <= 0) return `0.${"0".repeat(-point)}${all}`;
  if (point >= all.length) return all + "0".repeat(point - all.length);
  return `${all.slice(0, point)}.${all.slice(point)}`;
}

/** Rewrites 0.1\overline{6} as 15/90, because the line would be lost. */
function recurring(text: string): string {
  return text.replace(
    /(?<![\d.])(\d{1,20})\.(\d{0,20})\\(?:overline|bar|dot)\s*\{(\d{1,20})\}/g,
    (_, whole: string, first: string, again: string) => {
      const over = BigInt(whole + first + again) - BigInt(whole + first);
      return `\\frac{${over}}{${"9".repeat(again.length)}${"0".repeat(first.length)}}`;
    },
  );
}

/** Rewrites 2 1/3 alone as 2\frac{1}{3}, which would be read as a third. */
function mixed(text: string): string {
  return text.replace(/^(-?\d+) +(\d+)\/(\d+)$/, (all, whole: string, over: string, under: string) =>
    Number(over) < Number(under) ? `${whole}\\frac{${over}}{${under}}` : all,
  );
}

const sign = "(?:°|\\^\\s*\\\\circ|\\^\\s*\\{\\s*\\\\circ\\s*\\}|\\\\degree|degrees)";
const angle = new RegExp(
  `\\\\?\\b(sin|cos|tan|cot|sec|csc)\\s*(\\(|\\{)?\\s*(\\d+(?:\\.\\d+)?)\\s*${sign}\\s*([)}])?`,
  "g",
);

/** Rewrites tan 45° as tan(45π/180), because the degrees would be lost. */
function degrees(text: string): string {
  return text.replace(angle, (_, name: string, open: string | undefined, size: string, close = "") => {
    const after = open === undefined ? close : "";
    return `\\${name}(\\frac{${size}\\pi}{180})${after}`;
  });
}
