/** A number as a fraction. */
interface Rational {
  readonly over: bigint;
  readonly under: bigint;
}

/** Longer texts are left to math-verify. */
const longest = 200;
/** math-verify's rounding hides only relative differences below one in this number. */
const coarsest = 10_000n;

/**
 * Decides quickly whether an answer equals the ground truth: by equal texts, names, numbers in the same base,
 * and numbers that are equal or too far apart for any rounding. Undefined if that does not decide it.
 */
export function quickVerdict(gold: string, answer: string): boolean | undefined {
  if (gold.length > longest || answer.length > longest) return undefined;
  const [right, given] = [bare(gold), bare(answer)];
  if (given === "") return false;
  if (right === given || spaceless(right) === spaceless(given)) return true;
  const [name, other] = [nameOf(right), nameOf(given)];
  if (name !== undefined && name === other) return true;
  const [digits, others] = [based.exec(right), based.exec(given)];
  if (digits !== null && others !== null) return digits[1] === others[1] && digits[2] === others[2];
  const [a, b] = [rational(right), rational(given)];
  if (a === undefined || b === undefined) return samePercent(right, given);
  const difference = a.over * b.under - b.over * a.under;
  if (difference === 0n) return true;
  const size = absolute(a.over * b.under) + absolute(b.over * a.under);
  return absolute(difference) * coarsest > size ? false : undefined;
}

/** Removes the delimiters around the mathematics. */
function bare(text: string): string {
  let inner = text.trim();
  for (const [open, close] of [
    ["\\(", "\\)"],
    ["\\[", "\\]"],
    ["$$", "$$"],
    ["$", "$"],
    ["\\boxed{", "}"],
  ] as const) {
    const isAround =
      inner.startsWith(open) && inner.endsWith(close) && inner.length > open.length + close.length;
    const within = isAround ? inner.slice(open.length, -close.length) : "";
    if (isAround && !/[$]|\\boxed|\\[()[\]]/.test(within) && isBalanced(within)) inner = within.trim();
  }
  return inner;
}

/** Removes formatting and spaces from a formula. Spaces between words or numbers stay. */
function spaceless(text: string): string {
  return text
    .replace(/\\(?:left|right|displaystyle)(?![a-zA-Z])|\\[,;:!]/g, "")
    .replace(/\\[dt]frac(?![a-zA-Z])/g, "\\frac")
    .replace(/(?<!\w)\s+|(?<!\\)\s+(?!\w)/g, "");
}

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === "{") depth++;
    if (character === "}" && --depth < 0) return false;
  }
  return depth === 0;
}

/** A word or a choice without its type and case: \text{Evelyn}, (B). */
function nameOf(text: string): string | undefined {
  const plain = text.replace(/\\(?:text(?:bf|it|rm|normal)?|mbox|math(?:rm|bf|it))\s*\{([^{}]*)\}/g, "$1");
  const name = plain
    .trim()
    .replace(/^\(([a-zA-Z])\)$/, "$1")
    .replace(/[.!]$/, "")
    .toLowerCase();
  return /^(?:\p{L}|\p{L}[\p{L}\s'-]*\p{L})$/u.test(name) ? name.replace(/\s+/g, " ") : undefined;
}

/** Digits and their base: 204_5. */
const based = /^([\da-fA-F]+)_\{?(\d+)\}?$/;

/** A percentage also equals the written number: 12.5\% and 12.5. */
function samePercent(one: string, other: string): true | undefined {
  const percent = /\s*\\?%$/;
  if (percent.test(one) === percent.test(other)) return undefined;
  const [a, b] = [rational(one.replace(percent, "")), rational(other.replace(percent, ""))];
  return a !== undefined && b !== undefined && a.over * b.under === b.over * a.under ? true : undefined;
}

const digits = "-?(?:(?:[1-9]\\d{0,2}(?:,\\d{3})+|\\d+)(?:\\.\\d*)?|\\.\\d+)";
const decimal = new RegExp(
  `^(${digits})(?:[eE]([+-]?\\d{1,3})|\\s*(?:\\\\times|\\\\cdot|[×·*])\\s*10\\^(?:(\\d)|\\{\\s*(-?\\d{1,3})\\s*\\}))?$`,
);
const fraction = /^(-?)\\[dt]?frac\{(-?\d+)\}\{(-?\d+)\}$|^(-?)(\d+)\/(\d+)$/;

/** The number that a whole text represents. Undefined for other texts. */
function rational(text: string): Rational | undefined {
  const [, number, ...exponents] = decimal.exec(text) ?? [];
  if (number !== undefined)
    return ofDecimal(number.replaceAll(",", ""), Number(exponents.find((one) => one !== undefined) ?? 0));
  const found = fraction.exec(text);
  if (found === null) return undefined;
  const [sign, over, under] = [found[1] ?? found[4], found[2] ?? found[5], found[3] ?? found[6]];
  if (over === undefined || under === undefined || BigInt(under) === 0n) return undefined;
  return { over: BigInt(over) * (sign === "-" ? -1n : 1n), under: BigInt(under) };
}

function ofDecimal(number: string, exponent: number): Rational {
  const [whole = "", decimals = ""] = number.split(".");
  const power = exponent - decimals.length;
  const sign = whole.startsWith("-") ? -1n : 1n;
  const over = sign * BigInt(whole.replace("-", "") + decimals);
  return power < 0
    ? { over, under: 10n ** BigInt(-power) }
    : { over: over * 10n ** BigInt(power), under: 1n };
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}
