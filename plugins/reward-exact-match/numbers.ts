/**
 * A number in a text: as it is written there, in ASCII digits, and its value. Equal numbers have equal
 * values.
 */
export interface WrittenNumber {
  text: string;
  value: string;
}

const letter = String.raw`[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}_]`;
const dash = "[-\u2212\u2013\uFE63]";
/** Separators between thousands: 1,234 and 1{,}234, 1 234 with a narrow space, 1'234, 1_234. */
const separator = String.raw`\{,\}|\\[,!],?|[,_'’\u00A0\u2009\u202F]`;
const grouped = [
  String.raw`[1-9]\d{0,2}(?<separator>${separator})\d{3}(?!\d)(?:\k<separator>\d{3}(?!\d))*`,
  String.raw`[1-9]\d?(?:,\d\d)+,\d{3}(?!\d)`, // 12,34,567, as in India
  String.raw`[1-9]\d{0,2}(?=(?:\s\d{3}){0,9}\s0\d\d(?!\d))(?:\s\d{3}(?!\d))+|[1-9]\d?(?:\s\d{3}(?!\d)){2,}`, // 10 000
].join("|");
const power = String.raw`[eE](?<exponent>[-+\u2212]?\d{1,15})(?![\p{L}\d])|\s?(?:[×x*]|\\times|\\cdot)\s?10\^\{?(?<ten>${dash}?\d{1,15})\}?`;

/** Matches the parts of a text that contain digits. The first two alternatives are not numbers. */
const tokens = new RegExp(
  [
    String.raw`(?:Rs|USD|EUR|GBP|INR|CNY|RMB|JPY)(?=\d)`,
    String.raw`${letter}\d[\d.]*|\^\{?[-+]?\d+`, // H2O, v1.2.3, cm^2
    String.raw`(?<points>[1-9]\d{0,2}(?:\.\d{3}(?!\d)){2,}|[1-9]\d{0,2}\.\d{3}(?=,\d{1,2}(?!\d)))(?:,(?<cents>\d+))?`,
    String.raw`\d+(?:\.\d+){2,}`, // 1.2.3
    String.raw`(?:(?<units>\d{1,15})\s)?(?<!/)(?<over>\d{1,15})/(?<under>\d{1,15})(?![/\d])`,
    String.raw`(?<ones>\d{1,15})?\\[dt]?frac(?:\{(?<top>\d{1,15})\}\{(?<bottom>\d{1,15})\}|(?<first>\d)(?<second>\d))`,
    String.raw`10\^\{?(?<tenth>${dash}?\d{1,15})\}?`,
    String.raw`(?:(?<whole>${grouped}|\d+)(?:\.(?<decimals>\d+))?|(?<![\p{L}\d.])\.(?<bare>\d+))(?:${power})?`,
  ].join("|"),
  "gu",
);

/**
 * Converts digits to ASCII: full-width digits, one-character fractions (½) and superscript exponents (10⁻³).
 */
export function plainDigits(text: string): string {
  return text
    .replace(/[０-９．，－＋／]/g, (one) => String.fromCodePoint((one.codePointAt(0) ?? 0) - 0xfee0))
    .replace(/(?<=(\d)?)[¼-¾⅐-⅞]/g, (one, digit) => {
      const plain = one.normalize("NFKC").replace("\u2044", "/");
      return digit === undefined ? plain : ` ${plain}`;
    })
    .replace(/[⁺⁻]?[⁰¹²³⁴-⁹]+/g, (one) => `^${one.normalize("NFKC").replace("\u2212", "-")}`);
}

/**
 * Returns the numbers of a text as a person reads them: with thousands separators (1,234 and 1.234.567), .5,
 * 007, −3, 1e5, 2×10^3, 3/4, 2 1/2. A dash between words or numbers is not a minus sign (2020-2024, step-3).
 * Digits of names, versions and exponents are not numbers (H2O, v1.2.3, cm^2).
 */
export function numbersOf(text: string): WrittenNumber[] {
  const plain = plainDigits(text);
  return [...plain.matchAll(tokens)].flatMap(({ 0: digits, index, groups = {} }) => {
    const size = sizeOf(groups);
    if (size === undefined) return [];
    const [written = "", sign = "+", minus] =
      signBefore.exec(plain.slice(Math.max(0, index - 8), index)) ?? [];
    const isNegative = (sign !== "+" || minus !== undefined) && size !== "0";
    const start = index - written.length;
    return [{ text: plain.slice(start, index + digits.length), value: isNegative ? `-${size}` : size }];
  });
}

/**
 * A sign before a number and its currency. It does not follow a word or a number, or it follows an equals
 * sign and spaces (= - 5).
 */
const signBefore = new RegExp(
  String.raw`(?:(?<![\p{L}\p{N})\]}%°\-\u2010-\u2015\u2212\uFE63])(${dash}|\+)|(?<==\s?)(${dash})\s)?(?:\\?\p{Sc})?$`,
  "u",
);

type Parts = Record<string, string | undefined>;

/** A number's absolute value. Undefined if it has none. */
function sizeOf(parts: Parts): string | undefined {
  const [over, under] = [
    parts.over ?? parts.top ?? parts.first,
    parts.under ?? parts.bottom ?? parts.second,
  ].map((part) => (part === undefined ? undefined : BigInt(part)));
  if (over !== undefined && under !== undefined) {
    const ones = over < under ? BigInt(parts.units ?? parts.ones ?? 0) : 0n;
    return fraction(ones * under + over, under);
  }
  const { points, cents, whole, decimals, bare, exponent, ten, tenth } = parts;
  if (tenth !== undefined) return decimal("1", "", powerOf(tenth));
  const digits = points ?? whole ?? (bare === undefined ? undefined : "0");
  if (digits === undefined) return undefined;
  return decimal(digits.replace(/\D/g, ""), cents ?? decimals ?? bare ?? "", powerOf(exponent ?? ten ?? "0"));
}

function powerOf(exponent: string): bigint {
  return BigInt(exponent.replace(/[\u2212\u2013\uFE63]/, "-").replace("+", ""));
}

/**
 * Normalizes a decimal. 12.50e3 becomes 125e2: its digits without surrounding zeros, and the power of ten of
 * the last digit.
 */
function decimal(whole: string, decimals: string, shift: bigint): string {
  const digits = (whole + decimals).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  return `${significant}e${shift - BigInt(decimals.length) + BigInt(digits.length - significant.length)}`;
}

/** Normalizes a fraction. 3/4 becomes 75e-2, like 0.75, and 2/6 becomes 1/3. */
function fraction(over: bigint, under: bigint): string | undefined {
  if (under === 0n) return undefined;
  for (let places = 0n; places <= 50n; places++) {
    const tens = 10n ** places;
    if ((over * tens) % under === 0n) return decimal(String((over * tens) / under), "", -places);
  }
  const common = divisor(over, under);
  return `${over / common}/${under / common}`;
}

function divisor(one: bigint, other: bigint): bigint {
  return other === 0n ? one : divisor(other, one % other);
}
