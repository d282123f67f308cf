import { describe, expect, test } from "vitest";
import { parseAction } from "../../../../src/chat/formats/parse-action.ts";
import type { JsonObject, JsonValue } from "../../../../src/contracts/json.ts";

/** What Qwen3-Coder's format makes of an argument's text by the schema of its function's parameters. */
function read(parameters: JsonObject, text: string, key = "x"): JsonValue | undefined {
  const tools = [{ name: "f", description: "", parameters }];
  const action = `<tool_call>\n<function=f>\n<parameter=${key}>\n${text}\n</parameter>\n</function>\n</tool_call>`;
  const [call] = parseAction(action, { format: "qwen3-coder", tools }).calls;
  return call?.problem ?? call?.arguments[key];
}

const withX = (x: JsonValue, more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties: { x },
  ...more,
});

const definitions = {
  $defs: {
    Zip: { type: "string" },
    Count: { type: "integer" },
    Unit: { enum: ["metric", "imperial"] },
    "a/b~c": { type: "boolean" },
    Alias: { $ref: "#/$defs/Zip" },
    Tree: { anyOf: [{ type: "string" }, { type: "array", items: { $ref: "#/$defs/Tree" } }] },
    Loop: { $ref: "#/$defs/Loop" },
    Wide: { anyOf: [{ $ref: "#/$defs/Wide" }, { $ref: "#/$defs/Wide" }, { $ref: "#/$defs/Wide" }] },
  },
  definitions: { Old: { type: "string" } },
};

describe("types that stand elsewhere in the schema", () => {
  const typed: [JsonValue, string, JsonValue][] = [
    [{ $ref: "#/$defs/Zip" }, "12345", "12345"],
    [{ $ref: "#/$defs/Alias" }, "12345", "12345"],
    [{ $ref: "#/definitions/Old" }, "true", "true"],
    [{ $ref: "#/$defs/Count" }, "5", 5],
    [{ $ref: "#/$defs/a~1b~0c" }, "true", true],
    [{ $ref: "#/$defs/Unit" }, "metric", "metric"],
    [{ $ref: "#/$defs/Gone" }, "5", 5],
    [{ $ref: "#/$defs/Tree" }, "5", "5"],
    [{ $ref: "#/$defs/Tree" }, '["a"]', ["a"]],
    [{ $ref: "#/$defs/Loop" }, "5", "5"],
    [{ $ref: "#/$defs/Wide" }, "5", "5"],
    [{ anyOf: [{ $ref: "#/$defs/Count" }, { type: "null" }] }, "5", 5],
    [{ anyOf: [{ $ref: "#/$defs/Count" }, { type: "null" }] }, "null", null],
    [{ anyOf: [{ $ref: "#/$defs/Count" }, { type: "null" }] }, "None", null],
    [{ anyOf: [{ $ref: "#/$defs/Zip" }, { type: "null" }] }, "12345", "12345"],
    [{ anyOf: [{ $ref: "#/$defs/Zip" }, { type: "null" }] }, "null", null],
    [{ oneOf: [{ type: "boolean" }, { type: "array" }] }, "True", true],
    [{ oneOf: [{ type: "boolean" }, { type: "array" }] }, "['a']", ["a"]],
    [{ allOf: [{ $ref: "#/$defs/Zip" }], description: "A zip" }, "12345", "12345"],
    [{ allOf: [{ type: ["string", "integer"] }, { type: "integer" }] }, "007", 7],
    [{ const: "5" }, "5", "5"],
    [{ const: 5 }, "5", 5],
    [{ enum: ["1", "2"] }, "1", "1"],
    [{ enum: [1, 2] }, "1", 1],
    [{ enum: ["5", 10] }, "5", "5"],
    [{ enum: ["5", 10] }, "10", 10],
    [{ type: "string", nullable: true }, "null", null],
    [{ type: "string", nullable: true }, "5", "5"],
    [{ type: "any" }, "5", 5],
    [{ type: "str" }, "5", "5"],
    [{ type: "STRING" }, "5", "5"],
    [{ type: "int" }, "5.0", 5],
    [{ type: "float" }, "1e3", 1000],
    [{ type: "bool" }, "TRUE", true],
    [{ type: "dict" }, "{'a': None}", { a: null }],
    [{ type: "tuple" }, "('a', 1)", ["a", 1]],
    [{ type: ["OBJECT", "NULL"] }, "null", null],
    [{ type: "boolean" }, "TRUE", true],
    [{ type: "boolean" }, "FALSE", false],
    [{ type: "boolean" }, "constructor", "constructor"],
    [{ anyOf: [{ $ref: "#/$defs/Count" }, { type: "null" }] }, "none", null],
    [{ anyOf: [{ $ref: "#/$defs/Count" }, { type: "null" }] }, "NULL", null],
    [{ anyOf: [{ $ref: "#/$defs/Zip" }, { type: "null" }] }, "NONE", "NONE"],
    [{ title: "X", description: "Whatever" }, "[1, 2]", [1, 2]],
    [true, "5", 5],
  ];
  test.each(typed)("%j reads %s as %j", (schema, text, value) => {
    expect(read(withX(schema, definitions), text)).toEqual(value);
  });
});

describe("a text where the schema allows a text", () => {
  const either = withX({ type: ["integer", "string"] });
  test.each([
    "007",
    "0x1F",
    "1_000",
    "1e3",
    "5.0",
    "+5",
    "9007199254740993",
    "1e999",
    "True",
    "'a'",
    '"a"',
    "[1]",
  ])("%s stays as it is", (text) => expect(read(either, text)).toBe(text));
  test.each(["5", "-7"])("%s is a number", (text) => expect(read(either, text)).toBe(Number(text)));

  test("without a type, what a number would lose stays a text", () => {
    expect(read(withX({}), "9007199254740993")).toBe("9007199254740993");
    expect(read(withX({}), "1.10")).toBe("1.10");
    expect(read(withX({}), "None")).toBe("None");
    expect(read(withX({}), "1.5")).toBe(1.5);
  });
});

describe("what must be a number", () => {
  const integer = withX({ type: "integer" });
  test.each([
    ["007", 7],
    ["0x1F", 31],
    ["1_000", 1000],
    ["1e3", 1000],
    ["-5.0", -5],
  ])("%s is one in any notation", (text, value) => expect(read(integer, text)).toBe(value));
  test.each(["9007199254740993", "1e999", "9_007_199_254_740_993"])("%s is told to the model", (text) => {
    expect(read(integer, text)).toContain(`the number ${text} cannot be kept exactly`);
  });
  test("what is none stays a text, which the tool's check refuses", () => {
    expect(read(integer, "five")).toBe("five");
    expect(read(integer, "5.5")).toBe("5.5");
  });
});

describe("properties that are not named", () => {
  const patterns = {
    type: "object",
    properties: { n: { type: "integer" } },
    patternProperties: {
      "^s_": { type: "string" },
      _count$: { type: "integer" },
      "^(a+)+$": { type: "string" },
    },
    additionalProperties: { type: "boolean" },
  };
  test.each([
    ["n", "5", 5],
    ["s_zip", "5", "5"],
    ["line_count", "5", 5],
    ["other", "True", true],
    ["aaaa", "5", "5"],
  ])("%s: %s is %j", (key, text, value) => expect(read(patterns, text, key)).toEqual(value));

  test("additional ones are what their schema says; where there may be none, anything", () => {
    expect(read({ type: "object", additionalProperties: { type: "string" } }, "5")).toBe("5");
    expect(read({ type: "object", additionalProperties: false }, "5")).toBe(5);
  });

  test("those of a schema's parts count", () => {
    const parts = {
      allOf: [{ $ref: "#/$defs/Base" }, { properties: { y: { type: "integer" } } }],
      $defs: { Base: { properties: { x: { type: "string" } } } },
    };
    expect(read(parts, "5")).toBe("5");
    const either = {
      anyOf: [{ properties: { x: { type: "string" } } }, { properties: { x: { type: "null" } } }],
    };
    expect(read(either, "5")).toBe("5");
    expect(read(either, "null")).toBe(null);
  });

  test("a pattern that would take for ever is not run", () => {
    const started = performance.now();
    read(
      { patternProperties: { "^(a|aa)+$": { type: "string" }, "(.*)*b": { type: "string" } } },
      "5",
      `${"a".repeat(60)}!`,
    );
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
