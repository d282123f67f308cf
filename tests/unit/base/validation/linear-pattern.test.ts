import { describe, expect, it } from "vitest";
import { linearPattern } from "../../../../src/base/validation/linear-pattern.ts";

/** Patterns that schemas have, and one for each thing that ECMA-262 and RE2 write otherwise. */
const patterns = [
  "^[a-z]+$",
  "^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$",
  "^\\d{4}-\\d{2}-\\d{2}$",
  "^(\\+\\d{1,3})?\\d{7,12}$",
  "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
  "^#?([a-f0-9]{6}|[a-f0-9]{3})$",
  "^(?:true|false)$",
  "^https?://[\\w.\\-]+(:\\d+)?(/.*)?$",
  "^[\\w\\-]{1,64}$",
  "^\\S+$",
  "^$|^\\s+$",
  "^\\/",
  "^[^/]+$",
  ".",
  "^.$",
  "^..$",
  "\\s",
  "[\\s]",
  "[\\S]",
  "[^\\s]",
  "[^\\S]",
  "\\W",
  "[\\W\\d]",
  "\\D",
  "\\bo",
  "\\Bo",
  "[]",
  "[^]",
  "a[]|c",
  "^[^]$",
  "[[]",
  "[a[]",
  "[.]",
  "[$^]",
  "[\\^a]",
  "[-a]",
  "[a-]",
  "[a-c-e]",
  "[+\\-]",
  "\\x41",
  "\\u0041",
  "\\u{41}",
  "\\u{a}",
  "[\\u{a}]",
  "\\cJ",
  "\\0",
  "[\\b]",
  "\\t|\\n|\\v|\\f|\\r",
  "\\u{1F600}",
  "\\ud83d\\ude00",
  "[\\ud83d\\ude00-\\u{1F610}]",
  "^😀$",
  "[😀]",
  "\\ud83d",
  "\\ude00",
  "^\\p{Lu}",
  "\\P{L}",
  "[\\p{Script=Greek}\\d]",
  "\\p{Emoji_Presentation}",
  "[^\\p{ASCII}]",
  "\\p{Letter}",
  "(?<year>\\d{4})-(?<month>\\d\\d)",
  "(?:a|b){2,3}?",
  "(a*)*$",
  "(|a)+",
  "x{0}",
  "^",
  "$",
  "a$b",
  "a^b",
  "\\.",
  "\\{a\\}",
  "\\[\\]",
  "\\(\\)",
  "\\|",
  "\\*\\+\\?",
  "\\\\",
  "\\$",
  "[\\]\\[]",
  "[\\\\]",
  "[{}()|*+?]",
];

const texts = [
  "",
  "a",
  "b",
  "abc",
  "foo bar",
  "oof",
  "A",
  "AB",
  "\n",
  "a\n",
  "\na",
  "\r",
  "\u2028",
  "\u0085",
  " ",
  "\u00a0",
  "\ufeff",
  "\u200b",
  "\u180e",
  "\v",
  "\b",
  "\0",
  "-",
  "^",
  "$",
  ".",
  "/",
  "[",
  "]",
  "\\",
  "+",
  "é",
  "Σ",
  "ß",
  "İ",
  "😀",
  "😀😀",
  "\ud83d",
  "\ude00",
  "\u{10400}",
  "e\u0301",
  "x{",
  "{a}",
  "()",
  "*+?",
  "|",
  "2024-01",
  "2024-01-31",
  "a@b.c",
  "+4912345678",
  "#ff00aa",
  "true",
  "https://x.org:80/a b",
  "7",
  "٣",
  "123e4567-e89b-12d3-a456-426614174000",
];

describe("linearPattern", () => {
  it.each(patterns)("reads %s as JavaScript does", (pattern) => {
    const native = new RegExp(pattern, "u");
    const linear = linearPattern(pattern);
    expect(texts.filter((text) => linear?.test(text))).toEqual(texts.filter((text) => native.test(text)));
  });

  it("reads 2,000 generated patterns as JavaScript does", () => {
    let seed = 7;
    const below = (limit: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((seed / 2 ** 32) * limit);
    };
    const pick = (list: readonly string[]) => list[below(list.length)] ?? "";
    const members = [
      "a",
      "b",
      "a-c",
      "\\d",
      "\\s",
      "\\w",
      "\\-",
      "é",
      "\\n",
      "^",
      "[",
      ".",
      "\\u{1F600}",
      "\\S",
    ];
    const atoms = ["a", "b", ".", "\\d", "\\s", "\\w", "\\S", "é", "😀", "\\n", "\\.", "\\u0061", "-", " "];
    const ends = ["", "", "", "*", "+", "?", "{0,2}", "{2}", "+?", "{1,}"];
    const atom = (depth: number): string => {
      const kind = below(depth > 2 ? 6 : 9);
      if (kind < 4) return pick(atoms);
      if (kind < 6)
        return `[${pick(["", "^"])}${Array.from({ length: below(4) }, () => pick(members)).join("")}]`;
      return `(${pick(["", "?:"])}${pattern(depth + 1)})`;
    };
    const pattern = (depth: number): string => {
      const parts = Array.from({ length: 1 + below(3) }, () =>
        below(9) === 0 ? pick(["^", "$", "\\b"]) : atom(depth) + pick(ends),
      );
      return below(4) === 0 ? `${parts.join("")}|${pattern(depth + 1)}` : parts.join("");
    };
    const text = () =>
      Array.from({ length: below(7) }, () => pick(["a", "b", "c", "é", "😀", "\n", " ", ".", "7", "-"])).join(
        "",
      );
    let compared = 0;
    for (let count = 0; count < 2000; count++) {
      const written = pattern(0);
      const native = new RegExp(written, "u");
      const linear = linearPattern(written);
      for (let tried = 0; tried < 10; tried++) {
        const given = text();
        const found = `${written} in ${JSON.stringify(given)}: ${linear?.test(given)}`;
        expect(found).toBe(`${written} in ${JSON.stringify(given)}: ${native.test(given)}`);
        compared++;
      }
    }
    expect(compared).toBe(20_000);
  });

  it.each(["^(?=a)", "(?!a)b", "(?<=a)b", "(?<!a)b", "(a)\\1", "(?<n>a)\\k<n>", "(?i:a)", "a{1001}"])(
    "leaves %s to others",
    (pattern) => {
      expect(linearPattern(pattern)).toBeUndefined();
    },
  );

  it("refuses what is no pattern", () => {
    expect(() => linearPattern("(")).toThrow(SyntaxError);
    expect(() => linearPattern("\\_")).toThrow(SyntaxError);
  });
});
