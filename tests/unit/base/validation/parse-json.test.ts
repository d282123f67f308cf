import { describe, expect, it } from "vitest";
import { parseJson } from "../../../../src/base/validation/parse-json.ts";
import { placeOf } from "../../../../src/base/validation/source-document.ts";

describe("parseJson", () => {
  it.each([
    '{"a": [1, -2.5e3, "x\\n\\u00e9", true, false, null], "b": {}}',
    "[]",
    ' "text" ',
    "[1e-6, -1.5E-12, 2e+3]",
    "\uFEFF{}",
    '{"": {"/": {"~": 1}}}',
  ])("reads %s as JSON.parse does", (text) => {
    expect(parseJson(text, "f").document?.value).toEqual(JSON.parse(text.replace(/^\uFEFF/, "")));
  });

  it("refuses what is nested without end, and says where", () => {
    const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
    expect(parseJson(nested(500), "f").problems).toEqual([]);
    for (const text of [
      nested(501),
      nested(100_000),
      `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`,
      "[".repeat(100_000),
    ]) {
      const { document, problems } = parseJson(text, "f");
      expect(document).toBeUndefined();
      expect(problems.map(({ error }) => error.message)).toEqual([
        expect.stringContaining("it is nested more than 500 levels deep. Write it flatter."),
      ]);
    }
  });

  it("refuses what JSON.parse refuses", () => {
    const alphabet = [
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"a"',
      "1",
      "01",
      "true",
      "'",
      " ",
      "-",
      "nul",
      "e-1",
      "2.",
      '"',
      "//",
    ];
    let state = 1;
    const draw = () => {
      state = (state * 48271) % 2147483647;
      return alphabet[state % alphabet.length];
    };
    for (let trial = 0; trial < 20_000; trial++) {
      const text = Array.from({ length: 1 + (trial % 9) }, draw).join("");
      const { document } = parseJson(text, "f");
      expect([text, document !== undefined]).toEqual([text, isJson(text)]);
    }
  });

  it("knows where keys and values stand", () => {
    const { document } = parseJson('{\n  "a": [\n    1,\n    {"b/c": 2}\n  ]\n}', "f.json");
    if (document === undefined) throw new Error("not parsed");
    expect(placeOf(document, "/a", "key").text).toBe("f.json:2:3");
    expect(placeOf(document, "/a/1/b~1c", "value").text).toBe("f.json:4:13");
    expect(placeOf(document, "/a/1/missing", "value").text).toBe("f.json:4:5");
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
