import { describe, expect, it } from "vitest";
import { argumentsValidator } from "../../../src/plugins/validate-arguments.ts";

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
