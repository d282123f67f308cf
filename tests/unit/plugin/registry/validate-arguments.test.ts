import { describe, expect, it } from "vitest";
import { argumentsValidator } from "../../../../src/plugin/registry/validate-arguments.ts";

const validate = argumentsValidator({
  type: "object",
  additionalProperties: false,
  required: ["expression"],
  properties: {
    expression: { type: "string", minLength: 1, description: "For example 1 + 2." },
    unit: { enum: ["m", "km"] },
  },
});

describe("argumentsValidator", () => {
  it("accepts arguments that fit", () => {
    expect(validate({ expression: "1 + 2" })).toBeUndefined();
    expect(validate({ expression: "1", unit: "km" })).toBeUndefined();
  });

  it("tells the model what is wrong", () => {
    expect(validate({ expr: "1 + 2" })).toMatchInlineSnapshot(
      `"the call lacks “expression”. Add “expression”: For example 1 + 2. unknown key “expr” in the call. Known keys: expression, unit."`,
    );
    expect(validate({ expression: 3 })).toMatchInlineSnapshot(
      `"expression must be text, but is 3. For example 1 + 2."`,
    );
    expect(validate({ expression: "1", unit: "mile" })).toMatchInlineSnapshot(
      `"unit is “mile”, but must be one of m, km. Choose one."`,
    );
    expect(validate({})).toMatchInlineSnapshot(
      `"the call lacks “expression”. Add “expression”: For example 1 + 2."`,
    );
    expect(validate({ expression: "" })).toMatchInlineSnapshot(
      `"expression is empty text, but must not be empty. For example 1 + 2."`,
    );
  });

  it("leaves the arguments as they are", () => {
    const given = { expression: "1" };
    const withDefault = argumentsValidator({ type: "object", properties: { depth: { default: 3 } } });
    expect(withDefault(given)).toBeUndefined();
    expect(given).toEqual({ expression: "1" });
  });
});

describe("argumentsValidator, whatever schema and arguments are", () => {
  const text = (pattern: string) =>
    argumentsValidator({ type: "object", properties: { text: { type: "string", pattern } } });
  const slow = "checking the arguments took longer than 2 s. Write shorter or simpler ones.";
  const timed = (work: () => unknown) => {
    const began = performance.now();
    const result = work();
    return { result, seconds: (performance.now() - began) / 1000 };
  };

  it("decides patterns that backtrack without end", { timeout: 20_000 }, () => {
    for (const pattern of ["^(a+)+$", "^(a|aa)+$", "^(?<word>a*)*b", "(.*a){12}$"]) {
      const { result, seconds } = timed(() => text(pattern)({ text: `${"a".repeat(50_000)}!` }));
      expect(result).toContain("isn't of the right form. It must match");
      expect(seconds).toBeLessThan(2);
    }
    expect(text("^(a+)+$")({ text: "a".repeat(50_000) })).toBeUndefined();
  });

  it("ends patterns that only backtracking can decide", { timeout: 20_000 }, () => {
    const lookAhead = text("^(?=(a+)+$)a*$");
    expect(lookAhead({ text: "aaa" })).toBeUndefined();
    expect(lookAhead({ text: "b" })).toContain("isn't of the right form");
    const { result, seconds } = timed(() => lookAhead({ text: `${"a".repeat(60)}!` }));
    expect(result).toBe(slow);
    expect(seconds).toBeLessThan(10);
    expect(lookAhead({ text: "aaa" })).toBeUndefined();
    expect(text("^(a|b)\\1$")({ text: "aa" })).toBeUndefined();
    expect(text("^(a|b)\\1$")({ text: "ab" })).toContain("isn't of the right form");
  });

  it("decides the patterns of keys", () => {
    const keys = argumentsValidator({
      type: "object",
      propertyNames: { pattern: "^(\\w+)+$" },
      patternProperties: { "^(a+)+$": { type: "integer" } },
    });
    const long = "a".repeat(40);
    expect(keys({ [long]: 3 })).toBeUndefined();
    expect(keys({ [long]: "3" })).toContain("must be a whole number");
    expect(keys({ [`${long}!`]: 3 })).toContain("isn't of the right form");
  });

  it("ends schemas that fork at each level", { timeout: 20_000 }, () => {
    const branch = (key: string) => ({
      type: "object",
      required: [key],
      properties: { a: { $ref: "#/definitions/node" } },
    });
    const validateNested = argumentsValidator({
      type: "object",
      properties: { a: { $ref: "#/definitions/node" } },
      definitions: { node: { anyOf: [branch("x"), branch("y")] } },
    });
    let nested = {};
    for (let depth = 0; depth < 40; depth++) nested = { a: nested };
    const { result, seconds } = timed(() => validateNested(nested));
    expect(result).toBe(slow);
    expect(seconds).toBeLessThan(10);
  });

  it("ends the comparison of many items", { timeout: 20_000 }, () => {
    const unique = argumentsValidator({
      type: "object",
      properties: { list: { type: "array", uniqueItems: true } },
    });
    expect(unique({ list: [{ a: 1 }, { a: 1 }] })).toContain("must NOT have duplicate items");
    const list = Array.from({ length: 100_000 }, (_, index) => ({ index }));
    expect(unique({ list })).toBe(slow);
  });

  it("names the first of very many mistakes, and no long key's neighbor", { timeout: 20_000 }, () => {
    const list = argumentsValidator({
      type: "object",
      additionalProperties: false,
      properties: { list: { type: "array", items: { type: "object", required: ["id"] } } },
    });
    const { result, seconds } = timed(() => list({ list: Array.from({ length: 100_000 }, () => ({})) }));
    expect(result).toContain("list[0] lacks “id”");
    expect(seconds).toBeLessThan(3);
    const key = timed(() => list({ ["k".repeat(1_000_000)]: 1 }));
    expect(key.result).toContain("unknown key “kkk");
    expect(key.seconds).toBeLessThan(3);
  });

  it("refuses arguments that are nested without end", () => {
    const any = argumentsValidator({ type: "object" });
    const deep = (levels: number) => JSON.parse(`{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`);
    expect(any(deep(499))).toBeUndefined();
    const problem = "the arguments are nested more than 500 levels deep. Write them flatter.";
    expect(any(deep(500))).toBe(problem);
    expect(any(deep(100_000))).toBe(problem);
  });
});
