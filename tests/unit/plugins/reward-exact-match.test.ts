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
});
