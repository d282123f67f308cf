import { describe, expect, it } from "vitest";
import reward from "../../../plugins/reward-exact-match/index.ts";

function score(answer: string, ground_truth: string, extract = "whole") {
  const task = { data_source: "test", prompt: [], reward_model: { ground_truth } };
  return reward.score({
    task,
    turns: [],
    outcome: "answered",
    answer,
    signal: new AbortController().signal,
    config: { extract },
  });
}

describe("reward-exact-match", () => {
  it.each([
    ["654", "654"],
    [" 654\n", "654"],
    ["1,234", "1234"],
    ["+5", "5"],
    ["7.0", "7"],
    ["7.", "7"],
    ["2.50", "2.5"],
    ["-0", "0"],
    ["100", "100"],
    ["−5", "-5"],
    [".5", "0.5"],
    ["1e5", "100000"],
    ["007", "7"],
    ["x-1", "x-1"],
    ["１２", "12"],
    ["½", "0.5"],
    ["1½", "1.5"],
    ["2 1/2", "2.5"],
    ["Paris", "Paris"],
  ])("%j equals %j", (answer, truth) => {
    expect(score(answer, truth)).toEqual({ reward: 1, success: true });
  });

  it.each([
    ["655", "654"],
    ["", "654"],
    ["", ""],
    ["12,34", "1234"],
    ["100", "1"],
    ["$18", "18"],
    ["5kg", "5"],
    ["9007199254740993", "9007199254740992"],
    ["Answer: 654", "654"],
  ])("%j does not equal %j", (answer, truth) => {
    expect(score(answer, truth)).toEqual({ reward: 0, success: false });
  });

  it("takes the last number when told to", () => {
    expect(score("First 3, so the answer is 1,654.0.", "1654", "last-number")).toMatchObject({
      success: true,
    });
    expect(score("it is -52", "-52", "last-number")).toMatchObject({ success: true });
    expect(score("no number", "0", "last-number")).toMatchObject({ success: false });
  });

  it.each([
    // Punctuation after a number, and thousands.
    ["It is 42,", "42"],
    ["It is 42.", "42"],
    ["42!", "42"],
    ["**42**", "42"],
    ["(42)", "42"],
    ["1,234, I think", "1234"],
    ["1,234,567.", "1234567"],
    ["12, 34", "34"],
    ["12,34", "34"],
    ["2,3456", "3456"],
    ["$1,234.50.", "1234.5"],
    ["1{,}234", "1234"],
    ["1\\,234", "1234"],
    ["1\u2009234\u2009567", "1234567"],
    ["1\u202F234", "1234"],
    ["1\u00A0234", "1234"],
    ["1'234", "1234"],
    ["1_000_000", "1000000"],
    ["1.234.567", "1234567"],
    ["1.234.567,89", "1234567.89"],
    ["1.234,50 €", "1234.5"],
    ["3.141", "3.141"],
    // A point in front, zeros in front, exponents.
    ["It is .5", "0.5"],
    ["-.5.", "-0.5"],
    ["007", "7"],
    ["The answer is 073.", "73"],
    ["0.50", "0.5"],
    ["wait ...5", "5"],
    ["1e5", "100000"],
    ["2.5E-3", "0.0025"],
    ["1.5 × 10^3", "1500"],
    ["1.5 \\times 10^{-3}", "0.0015"],
    // Minus, hyphen, range.
    ["−3", "-3"],
    ["x = \u22123.5", "-3.5"],
    ["x=-5", "-5"],
    ["x = - 5", "-5"],
    ["(-5)", "-5"],
    ["–5", "-5"],
    ["-$5", "-5"],
    ["$-5$", "-5"],
    ["**-5**", "-5"],
    ["2020-2024", "2024"],
    ["2020–2024", "2024"],
    ["2020 - 2024", "2024"],
    ["8 - 5 = 3", "3"],
    ["step-3", "3"],
    ["COVID-19", "19"],
    ["f(x)-3", "3"],
    ["well--5", "5"],
    ["- 5", "5"],
    ["+5", "5"],
    // Units, ordinals, fractions, times, dates.
    ["50%", "50"],
    ["5kg", "5"],
    ["5 cm^2", "5"],
    ["10m2", "10"],
    ["x=5.", "5"],
    ["the 3rd", "3"],
    ["3/4", "0.75"],
    ["-3/4", "-0.75"],
    ["\\frac{1}{3}", "2/6"],
    ["10:30", "30"],
    ["12/25/2024", "2024"],
    ["2024-12-25", "25"],
    ["\\boxed{42}", "42"],
    ["\\$18.00", "18"],
    ["Rs500", "500"],
    ["US$500", "500"],
    ["答案是42。", "42"],
    ["４２", "42"],
    ["－１，２３４．５", "-1234.5"],
    // Mixed numbers, fractions of one character, exponents above the line.
    ["2 1/2 cups", "2.5"],
    ["-2 1/2", "-2.5"],
    ["2\\frac{1}{2}", "2.5"],
    ["\\frac12", "0.5"],
    ["\\dfrac34.", "0.75"],
    ["½", "0.5"],
    ["1½ hours", "1.5"],
    ["1 ⅓", "4/3"],
    ["from 2 to 5/2", "2.5"],
    ["2 5/4", "1.25"],
    ["1 12/25/2024", "2024"],
    ["5×10⁻³", "0.005"],
    ["10^{-3}", "0.001"],
    ["10⁶", "1000000"],
    ["5 cm²", "5"],
    // Thousands behind spaces where nothing else is meant, and as in India.
    ["1 000 000", "1000000"],
    ["10 000 people", "10000"],
    ["12 345 678", "12345678"],
    ["100 200", "200"],
    ["100 200 300", "300"],
    ["12,34,567", "1234567"],
    ["₹1,00,000", "100000"],
    // Digits of names and versions.
    ["7 molecules of H2O", "7"],
    ["3 bugs in v1.2.3", "3"],
    ["3 bugs in 1.2.3", "3"],
    // Ground truths with marks around their number.
    ["It costs 18 dollars", "$18"],
    ["9007199254740993", "9007199254740993"],
  ])("the last number of %j is %j", (answer, truth) => {
    expect(score(answer, truth, "last-number")).toEqual({ reward: 1, success: true });
  });

  it.each([
    ["no number", "0"],
    ["", "0"],
    ["42", "Paris"],
    ["2020-2024", "-2024"],
    ["1.234", "1234"],
    ["9007199254740992", "9007199254740993"],
    ["v1.2.3", "3"],
    ["H2O", "2"],
    ["3/4", "4"],
    ["1/3", "0.3333333333333333"],
    ["5 cm^2", "2"],
    ["5:30", "10:30"],
    ["3/0", "0"],
    ["5", "-5"],
  ])("the last number of %j is not %j", (answer, truth) => {
    expect(score(answer, truth, "last-number")).toEqual({ reward: 0, success: false });
  });

  it("finds the last number of a long text in one pass", () => {
    for (const text of [
      "1".repeat(200_000),
      "1,".repeat(100_000),
      "1.".repeat(100_000),
      "-".repeat(200_000),
      "x1".repeat(100_000),
      "1 000".repeat(40_000),
      "1 ".repeat(100_000),
      "1 1/".repeat(50_000),
      "10^".repeat(60_000),
    ])
      expect(score(`${text} 7`, "7", "last-number")).toMatchObject({ reward: 1 });
    expect(score("1e999999999999999", "1", "last-number")).toMatchObject({ reward: 0 });
  });
});
