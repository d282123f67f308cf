/** A number of a text: how it is written there, and its value; equal numbers have equal values. */
export interface WrittenNumber {
  text: string;
  value: string;
}

const letter = String.raw`[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}_]`;
const dash = "[-\u2212\u2013\uFE63]";
/** What stands between thousands: 1,234 and 1{,}234, 1 234 with a narrow space, 1'234, 1_234. */
const separator = String.raw`\{,\}|\\[,!],?|[,_'’\u00A0\u2009\u202F]`;
const grouped = String.raw`[1-9]\d{0,2}(?<separator>${separator})\d{3}(?!\d)(?:\k<separator>\d{3}(?!\d))*`;
const power = String.raw`[eE](?<exponent>[-+\u2212]?\d{1,15})(?![\p{L}\d])|\s?(?:[×x*]|\\times|\\cdot)\s?10\^\{?(?<ten>${dash}?\d{1,15})\}?`;

/** What a text is made of where it has digits: the first two alternatives are no numbers. */
const tokens = new RegExp(
  [
    String.raw`(?:Rs|USD|EUR|GBP|INR|CNY|RMB|JPY)(?=\d)`,
    String.raw`${letter}\d[\d.]*|\^\{?[-+]?\d+`, // H2O, v1.2.3, cm^2
    String.raw`(?<points>[1-9]\d{0,2}(?:\.\d{3}(?!\d)){2,}|[1-9]\d{0,2}\.\d{3}(?=,\d{1,2}(?!\d)))(?:,(?<cents>\d+))?`,
    String.raw`\d+(?:\.\d+){2,}`, // 1.2.3
    String.raw`(?<!/)(?<over>\d{1,15})/(?<under>\d{1,15})(?![/\d])|\\[dt]?frac\{(?<top>\d{1,15})\}\{(?<bottom>\d{1,15})\}`,
    String.raw`(?:(?<whole>${grouped}|\d+)(?:\.(?<decimals>\d+))?|(?<![\p{L}\d.])\.(?<bare>\d+))(?:${power})?`,
  ].join("|"),
  "gu",
);

/**
 * The numbers of a text as a person reads them: with their thousands (1,234 and 1.234.567), .5, 007, −3, 1e5, 2×10^3, 3/4. A dash between words or
 * numbers is no minus (2020-2024, step-3). Digits of names, versions and exponents are no numbers (H2O, v1.2.3, cm^2).
 */
export function numbersOf(text: string): WrittenNumber[] {
  const plain = text.replace(/[０-９．，－＋／]/g, (one) =>
    String.fromCodePoint((one.codePointAt(0) ?? 0) - 0xfee0),
  );
  return [...plain.matchAll(tokens)].flatMap(({ 0: digits, index, groups = {} }) => {
    const size = sizeOf(groups);
    if (size === undefined) return [];
    const [written = "", sign = "+", minus] =
      signBefore.exec(plain.slice(Math.max(0, index - 8), index)) ?? [];
    const isNegative = (sign !== "+" || minus !== undefined) && size !== "0";
    const start = index - written.length;
    return [{ text: text.slice(start, index + digits.length), value: isNegative ? `-${size}` : size }];
  });
}

/** A sign before a number and its currency: it follows neither a word nor a number, or an equals sign and spaces (= - 5). */
const signBefore = new RegExp(
  String.raw`(?:(?<![\p{L}\p{N})\]}%°\-\u2010-\u2015\u2212\uFE63])(${dash}|\+)|(?<==\s?)(${dash})\s)?(?:\\?\p{Sc})?$`,
  "u",
);

type Parts = Record<string, string | undefined>;

/** A number's size; undefined if it has none. */
function sizeOf({ points, cents, over, under, top, bottom, whole, decimals, bare, exponent, ten }: Parts) {
  const [numerator, denominator] = [over ?? top, under ?? bottom];
  if (numerator !== undefined && denominator !== undefined)
    return fraction(BigInt(numerator), BigInt(denominator));
  const digits = points ?? whole ?? (bare === undefined ? undefined : "0");
  if (digits === undefined) return undefined;
  const shift = BigInt((exponent ?? ten ?? "0").replace(/[\u2212\u2013\uFE63]/, "-").replace("+", ""));
  return decimal(digits.replace(/\D/g, ""), cents ?? decimals ?? bare ?? "", shift);
}

/** 12.50e3 is 125e2: its digits without zeros around them, and the power of ten of the last. */
function decimal(whole: string, decimals: string, shift: bigint): string {
  const digits = (whole + decimals).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  return `${significant}e${shift - BigInt(decimals.length) + BigInt(digits.length - significant.length)}`;
}

/** 3/4 is 75e-2, as 0.75; 2/6 is 1/3. */
function fraction(over: bigint, under: bigint): string | undefined {
  if (under === 0n) return undefined;
  for (let power = 0n; power <= 50n; power++) {
    const tens = 10n ** power;
    if ((over * tens) % under === 0n) return decimal(String((over * tens) / under), "", -power);
  }
  const common = divisor(over, under);
  return `${over / common}/${under / common}`;
}

function divisor(one: bigint, other: bigint): bigint {
  return other === 0n ? one : divisor(other, one % other);
}
