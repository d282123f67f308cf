import { JinjaError } from "./errors.ts";
import { isIdentifier, space, trimEnd } from "./text.ts";
import { unescaped } from "./unescape.ts";

/** A template's token: text between tags, a tag's mark, or a token inside a tag. */
export type Token =
  | { type: "data" | "name" | "string" | "operator"; text: string }
  | { type: "number"; value: bigint | number }
  | { type: "variable_begin" | "variable_end" | "block_begin" | "block_end" | "end" };

/** The most digits of an int that Python reads. */
const mostDigits = 4300;
const word = "[\\p{L}\\p{N}\\p{M}_]+";
const number =
  /(?<!\.)(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?[eE][+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0[xX](?:_?[\da-fA-F])+|[1-9](?:_?\d)*|0(?:_?0)*/;
const text = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/s;
const operator = /\*\*|\/\/|[=!<>]=|[-+/*%~[\](){}<>=.:|,;]/;
const part = new RegExp(
  `(${space}+)|(${number.source})|(${word})|(${text.source})|(${operator.source})`,
  "suy",
);
const tag = /\{%([-+]?)|\{\{([-+]?)|\{#([-+]?)/g;
const rawTag = new RegExp(`\\{%([-+]?)${space}*raw${space}*(?:-%\\}${space}*|%\\})`, "uy");
const rawEnd = new RegExp(`\\{%([-+]?)${space}*endraw${space}*(?:\\+%\\}|-%\\}${space}*|%\\}\\n?)`, "gu");
const commentEnd = new RegExp(`\\+#\\}|-#\\}${space}*|#\\}\\n?`, "gu");
const blockEnd = new RegExp(`\\+%\\}|-%\\}${space}*|%\\}\\n?`, "uy");
const variableEnd = new RegExp(`-\\}\\}${space}*|\\}\\}`, "uy");
const closing: Record<string, string> = { "{": "}", "(": ")", "[": "]" };

/**
 * Splits a template into tokens like Jinja with `trim_blocks` and `lstrip_blocks`. It drops the line break after a
 * block, and white space between the beginning of a line and a block. All line breaks become \n, and a last one is
 * dropped. Throws JinjaError.
 */
export function tokenize(template: string): Token[] {
  const source = template.replaceAll(/\r\n?/g, "\n").replace(/\n$/, "");
  const tokens: Token[] = [];
  const put = (data: string) => {
    if (data !== "") tokens.push({ type: "data", text: data });
  };
  let at = 0;
  while (at < source.length) {
    tag.lastIndex = at;
    const found = tag.exec(source);
    if (found === null) {
      put(source.slice(at));
      break;
    }
    const isVariable = found[2] !== undefined;
    const sign = found[1] ?? found[2] ?? found[3] ?? "";
    put(textBefore(source, at, found.index, sign, isVariable));
    rawTag.lastIndex = found.index;
    const raw = rawTag.exec(source);
    if (raw !== null) {
      const begin = rawTag.lastIndex;
      const end = next(rawEnd, source, begin, "a raw block does not end");
      put(textBefore(source, begin, end.index, end[1] ?? "", false));
      at = rawEnd.lastIndex;
    } else if (found[3] !== undefined) {
      next(commentEnd, source, tag.lastIndex, "a comment does not end");
      at = commentEnd.lastIndex;
    } else {
      tokens.push({ type: isVariable ? "variable_begin" : "block_begin" });
      at = tokenizeTag(source, tag.lastIndex, isVariable, tokens);
    }
  }
  tokens.push({ type: "end" });
  return tokens;
}

function next(expression: RegExp, source: string, from: number, reason: string): RegExpExecArray {
  expression.lastIndex = from;
  const found = expression.exec(source);
  if (found === null) throw new JinjaError(reason);
  return found;
}

/** The text before a tag, without white space that the tag removes. */
function textBefore(source: string, from: number, to: number, sign: string, isVariable: boolean): string {
  const data = source.slice(from, to);
  if (sign === "-") return trimEnd(data);
  if (sign === "+" || isVariable) return data;
  const line = data.lastIndexOf("\n") + 1;
  const startsLine = line > 0 || from === 0 || source[from - 1] === "\n";
  return startsLine && trimEnd(data.slice(line)) === "" ? data.slice(0, line) : data;
}

/** Adds the tokens of a tag and its end. Returns where the tag ends. */
function tokenizeTag(source: string, from: number, isVariable: boolean, tokens: Token[]): number {
  const end = isVariable ? variableEnd : blockEnd;
  const open: string[] = [];
  let at = from;
  while (at < source.length) {
    if (open.length === 0) {
      end.lastIndex = at;
      if (end.test(source)) {
        tokens.push({ type: isVariable ? "variable_end" : "block_end" });
        return end.lastIndex;
      }
    }
    part.lastIndex = at;
    const found = part.exec(source);
    if (found === null) throw new JinjaError(`unexpected character ${JSON.stringify(source[at])}`);
    at = part.lastIndex;
    const token = tokenOf(found);
    if (token === undefined) continue;
    tokens.push(token);
    if (token.type !== "operator") continue;
    const closed = closing[token.text];
    if (closed !== undefined) open.push(closed);
    else if (/[})\]]/.test(token.text) && open.pop() !== token.text)
      throw new JinjaError(`unexpected "${token.text}"`);
  }
  throw new JinjaError("a tag does not end");
}

function tokenOf([, white, digits, name, quoted, mark]: RegExpExecArray): Token | undefined {
  if (white !== undefined) return undefined;
  if (digits !== undefined) return { type: "number", value: numberOf(digits.replaceAll("_", "")) };
  if (quoted !== undefined) return { type: "string", text: unescaped(quoted.slice(1, -1)) };
  if (mark !== undefined) return { type: "operator", text: mark };
  if (name === undefined || !isIdentifier(name)) throw new JinjaError(`"${name}" is not a name`);
  return { type: "name", text: name };
}

function numberOf(digits: string): bigint | number {
  if (digits.length > mostDigits) throw new JinjaError(`a number has more than ${mostDigits} digits`);
  return /^0[box]|^\d+$/i.test(digits) ? BigInt(digits) : Number(digits);
}
