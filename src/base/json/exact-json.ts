import { isNestedTooDeep, NestedTooDeepError } from "./nesting.ts";
import { stringEnd } from "./string-end.ts";

/** A number in a JSON text that JavaScript would change: its digits and its offset in the text. */
export interface InexactNumber {
  literal: string;
  offset: number;
}

/**
 * A JSON text contains a number that JavaScript would silently change. Its message names the number, not its place.
 */
export class InexactNumberError extends Error {
  override readonly name = "InexactNumberError";
  readonly number: InexactNumber;

  constructor(number: InexactNumber) {
    super(`the number ${number.literal} cannot be kept exactly`);
    this.number = number;
  }
}

/**
 * Matches 16 digits or an exponent. Numbers with fewer digits and no exponent are exact (IEEE 754 doubles keep 15).
 */
const suspicious = /[\d.]{16}|\d[eE]/;

/**
 * Parses a JSON text (RFC 8259) whose numbers all keep their value. Throws SyntaxError if the text is not JSON, and
 * NestedTooDeepError if it nests more than 500 levels. Throws InexactNumberError if JavaScript would change a
 * number: 9007199254740993, 1e999, or a decimal with more digits than a double keeps. `mayRound` decides by the keys
 * that lead to a number whether it may change anyway. Default: none may.
 */
export function parseExactJson(
  text: string,
  mayRound: (path: readonly string[]) => boolean = () => false,
): unknown {
  const value: unknown = JSON.parse(text);
  if (isNestedTooDeep(value)) throw new NestedTooDeepError();
  const found = inexactNumber(text, mayRound);
  if (found !== undefined) throw new InexactNumberError(found);
  return value;
}

/**
 * The first number of a JSON text that JavaScript would change and that may not change; undefined if there is none.
 */
export function inexactNumber(
  text: string,
  mayRound: (path: readonly string[]) => boolean = () => false,
): InexactNumber | undefined {
  if (!suspicious.test(text)) return undefined;
  for (const { literal, offset, path } of numbersOf(text))
    if (!isExact(literal) && !mayRound(path())) return { literal, offset };
  return undefined;
}

/**
 * Whether a decimal literal, such as -12.50e3, keeps its digits as a JavaScript number. 12.50 and 12.5 are equal. A
 * fraction may also have the 17 digits that identify a double: C's %.17g writes 0.1 as 0.10000000000000001.
 */
export function isExact(literal: string): boolean {
  const value = Number(literal);
  if (!Number.isFinite(value)) return false;
  const written = decimalOf(literal);
  if (written === decimalOf(String(value))) return true;
  return !Number.isInteger(value) && written === decimalOf(value.toPrecision(17));
}

/**
 * A decimal's significant digits and the power of ten of the last one. Equal texts are equal values, including the
 * sign.
 */
function decimalOf(literal: string): string {
  const [, sign, whole = "", fraction = "", exponent = "0"] =
    /^([-+]?)(\d*)\.?(\d*)(?:[eE]([-+]?\d+))?$/.exec(literal) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return `${sign === "-" ? "-" : ""}${significant}e${power}`;
}

/** A number in a JSON text: its digits, its offset, and the keys that lead to it. List items have no key. */
interface FoundNumber {
  literal: string;
  offset: number;
  path(): string[];
}

/** The numbers of a JSON text (RFC 8259) in order. */
function* numbersOf(text: string): Generator<FoundNumber> {
  const keys: (string | undefined)[] = [];
  const colon = /\s*:/y;
  const tokens = /["{}[\]]|-?\d[\d.]*(?:[eE][-+]?\d+)?/g;
  for (let found = tokens.exec(text); found !== null; found = tokens.exec(text)) {
    const { 0: token, index } = found;
    if (token === "{" || token === "[") keys.push(undefined);
    else if (token === "}" || token === "]") keys.pop();
    else if (token !== '"')
      yield { literal: token, offset: index, path: () => keys.filter((key) => key !== undefined) };
    else {
      const end = stringEnd(text, index + 1) + 1;
      tokens.lastIndex = end;
      colon.lastIndex = end;
      if (colon.test(text)) keys[keys.length - 1] = JSON.parse(text.slice(index, end));
    }
  }
}
