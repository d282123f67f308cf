import { createRequire } from "node:module";

/** A regular expression that can only test whether it matches anywhere in a text. */
export interface LinearPattern {
  test(text: string): boolean;
  /** Distinguishes it from other patterns. */
  toString(): string;
}

/** An escape of ECMA-262 with the flag u. The two escapes of a surrogate pair are one character. */
const oneEscape = String.raw`\\(?:u\{[\da-f]+\}|ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|p\{[^}]*\}|.)`;
const tokens = new RegExp(
  String.raw`${oneEscape}|\[(?<not>\^?)(?<body>(?:\\.|[^\]\\])*)\]|\(\?(?:<?[=!]|<[^>]*>|[a-z-]*:)|.`,
  "gisu",
);
const classTokens = new RegExp(`${oneEscape}|.`, "gisu");

const all = "\\x{0}-\\x{10FFFF}";
/** ECMA-262's white space and line ends. RE2's \s only includes those of ASCII. */
const space =
  "\\t-\\r \\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}\\x{FEFF}";
const notSpace =
  "\\x{0}-\\x{8}\\x{E}-\\x{1F}!-\\x{9F}\\x{A1}-\\x{167F}\\x{1681}-\\x{1FFF}\\x{200B}-\\x{2027}\\x{202A}-\\x{202E}\\x{2030}-\\x{205E}\\x{2060}-\\x{2FFF}\\x{3001}-\\x{FEFE}\\x{FF00}-\\x{10FFFF}";
const letters: Record<string, number> = { t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 };

/**
 * An ECMA-262 pattern (flag u) that RE2 matches in time linear in the text. Undefined if RE2 can't express it, as
 * with look-arounds, backreferences, modifiers or more than 1,000 repetitions. Throws SyntaxError if it is not a
 * pattern.
 */
export function linearPattern(pattern: string): LinearPattern | undefined {
  new RegExp(pattern, "u");
  const translated = translate(pattern);
  if (translated === undefined) return undefined;
  const { RE2JS, RE2JSException }: typeof import("re2js") = createRequire(import.meta.url)("re2js");
  try {
    const compiled = RE2JS.compile(translated);
    return { test: (text) => compiled.test(text), toString: () => `/${pattern}/u` };
  } catch (error) {
    if (error instanceof RE2JSException) return undefined;
    throw error;
  }
}

/** The same pattern in RE2's syntax; undefined if RE2 is known not to support it. */
function translate(pattern: string): string | undefined {
  const written = [...pattern.matchAll(tokens)].map(({ 0: token, groups }) =>
    groups?.body === undefined ? outside(token) : classOf(groups.not === "^", groups.body),
  );
  return written.includes(undefined) ? undefined : written.join("");
}

function outside(token: string): string | undefined {
  if (token.startsWith("(?<") && !/^\(\?<[=!]/.test(token)) return "(?:";
  if (token.startsWith("(?")) return token === "(?:" ? token : undefined;
  if (/^\\[1-9k]/.test(token)) return undefined;
  if (/^\\[bBdDwW]$/.test(token)) return token;
  if (token.startsWith("\\")) {
    const set = setOf(token);
    return set === undefined ? codeText(codeOf(token)) : bracketed(false, set);
  }
  switch (token) {
    case ".":
      return "[^\\n\\r\\x{2028}\\x{2029}]";
    case "$":
      return "\\z";
    case "(":
      return "(?:";
    default:
      return token;
  }
}

function classOf(isNegated: boolean, body: string): string {
  const inside = [...body.matchAll(classTokens)].map(([token]) => {
    if (token === "-" || /^\\[dDwW]$/.test(token)) return token;
    if (!token.startsWith("\\")) return codeText(token.codePointAt(0) ?? 0);
    return token === "\\b" ? codeText(8) : (setOf(token) ?? codeText(codeOf(token)));
  });
  return bracketed(isNegated, inside.join(""));
}

/** A class. RE2 has no empty class. */
function bracketed(isNegated: boolean, inside: string): string {
  if (inside === "") return isNegated ? `[${all}]` : `[^${all}]`;
  return `[${isNegated ? "^" : ""}${inside}]`;
}

/** The characters that an escape matches, as the inside of a class; undefined if it matches a single character. */
function setOf(escaped: string): string | undefined {
  if (escaped === "\\s") return space;
  if (escaped === "\\S") return notSpace;
  return /^\\p\{/i.test(escaped) ? propertyRanges(escaped) : undefined;
}

const known = new Map<string, string>();

/** The characters of a Unicode property, according to JavaScript itself: RE2 uses another version of Unicode. */
function propertyRanges(property: string): string {
  const before = known.get(property);
  if (before !== undefined) return before;
  const one = new RegExp(`^${property}$`, "u");
  let ranges = "";
  let first = -1;
  for (let code = 0; code <= 0x110000; code++) {
    const has = code < 0x110000 && one.test(String.fromCodePoint(code));
    if (has && first < 0) first = code;
    if (has || first < 0) continue;
    ranges += `${codeText(first)}-${codeText(code - 1)}`;
    first = -1;
  }
  known.set(property, ranges);
  return ranges;
}

function codeOf(escaped: string): number {
  if (/^\\[ux]/.test(escaped)) {
    const [first = 0, second] = [...escaped.slice(2).matchAll(/[\da-f]+/gi)].map(([code]) =>
      Number.parseInt(code, 16),
    );
    return second === undefined ? first : (String.fromCharCode(first, second).codePointAt(0) ?? 0);
  }
  if (/^\\c[a-z]$/i.test(escaped)) return escaped.charCodeAt(2) & 31;
  return letters[escaped.slice(1)] ?? escaped.codePointAt(1) ?? 0;
}

function codeText(code: number): string {
  return `\\x{${code.toString(16)}}`;
}
