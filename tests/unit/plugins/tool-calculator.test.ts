import { describe, expect, it } from "vitest";
import { evaluate } from "../../../plugins/tool-calculator/evaluate.ts";

describe("tool-calculator", () => {
  it.each([
    ["74 + 50 - 47", "77"],
    ["46-98", "-52"],
    ["2 * (3 + 4) * -5", "-70"],
    ["-(2 - 5)", "3"],
    ["--1", "1"],
    ["10 / 4", "2.5"],
    ["1 / 3", "0.333333333333"],
    ["2 / 3", "0.666666666667"],
    ["-1 / 8", "-0.125"],
    ["0.1 + 0.2", "0.3"],
    [".5 + 1.", "1.5"],
    ["6 / 2", "3"],
    ["100", "100"],
    ["0 * -1", "0"],
    ["-1 / 10000000000000", "0"],
    ["123456789012345678901234567890 * 10", "1234567890123456789012345678900"],
    ["8 / 2 / 2", "2"],
    ["1/2*(2+2)", "2"],
  ])("%s = %s", (expression, value) => {
    expect(evaluate(expression)).toEqual({ value });
  });

  it.each([
    ["", "the expression ends where a number is expected"],
    ["1 +", "the expression ends where a number is expected"],
    ["1 2", "“2” stands where an operator is expected"],
    ["(1 + 2", "a closing parenthesis is missing"],
    ["1 + 2)", "“)” stands where an operator is expected"],
    ["two + 2", "“t” stands where a number is expected"],
    ["2 ** 3", "“*” stands where a number is expected"],
    ["1 / (2 - 2)", "division by zero"],
    [`${"(".repeat(500)}1`, "the expression is nested too deeply"],
  ])("%s is the model's error", (expression, error) => {
    expect(evaluate(expression)).toEqual({ error });
  });
});
