/** A number as a fraction. */
interface Rational {
  readonly over: bigint;
  readonly under: bigint;
}

/** Longer texts are left to math-verify. */
const longest = 200;
/** What math-verify rounds away differs by less than one part in so many. */
const coarsest = 10_000n;

/**
 * Whether an answer equals the ground truth where that can be said at once: equal texts, and numbers that are equal, or far enough
 * apart that no rounding makes them so. Undefined: it takes more.
 */
export function quickVerdict(gold: string, answer: string): boolean | undefined {
  if (gold.length > longest || answer.length > longest) return undefined;
  const [right, given] = [bare(gold), bare(answer)];
  if (given === "") return false;
  if (right === given) return true;
  const [a, b] = [rational(right), rational(given)];
  if (a === undefined || b === undefined) return undefined;
  const difference = a.over * b.under - b.over * a.under;
  if (difference === 0n) return true;
  const size = absolute(a.over * b.under) + absolute(a.under * b.under);
  return absolute(difference) * coarsest > size ? false : undefined;
}

/** What is left without the marks around the mathematics. */
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

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === "{") depth++;
    if (character === "}" && --depth < 0) return false;
  }
  return depth === 0;
}

const number = "-?(?:\\d{1,3}(?:,\\d{3})+|\\d+)(?:\\.\\d+)?(?:[eE][+-]?\\d{1,2})?";
const decimal = new RegExp(`^${number}$`);
const fraction = /^(-?)\\[dt]?frac\{(-?\d+)\}\{(-?\d+)\}$|^(-?)(\d+)\/(\d+)$/;

/** The number that a text is, if it is nothing else. */
function rational(text: string): Rational | undefined {
  if (decimal.test(text)) return ofDecimal(text.replaceAll(",", ""));
  const found = fraction.exec(text);
  if (found === null) return undefined;
  const [sign, over, under] = [found[1] ?? found[4], found[2] ?? found[5], found[3] ?? found[6]];
  if (over === undefined || under === undefined || BigInt(under) === 0n) return undefined;
  return { over: BigInt(over) * (sign === "-" ? -1n : 1n), under: BigInt(under) };
}

function ofDecimal(text: string): Rational {
  const [digits = "", exponent = "0"] = text.toLowerCase().split("e");
  const [whole = "", decimals = ""] = digits.split(".");
  const power = Number(exponent) - decimals.length;
  const over = BigInt(whole + decimals);
  return power < 0
    ? { over, under: 10n ** BigInt(-power) }
    : { over: over * 10n ** BigInt(power), under: 1n };
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}
