import { describe, expect, it } from "vitest";
import reward from "../../../plugins/reward-format/index.ts";
import type { JsonObject } from "../../../src/contracts/json.ts";

function score(config: JsonObject, ...actions: string[]) {
  return reward.score({
    task: { data_source: "test", prompt: [], reward_model: { ground_truth: "" } },
    turns: actions.map((action) => ({ action, toolCalls: [] })),
    outcome: "answered",
    answer: actions.at(-1) ?? "",
    config,
    signal: new AbortController().signal,
  });
}

const right = { reward: 1, success: true };
const wrong = { reward: 0, success: false };

describe("reward-format", () => {
  it.each([
    ["<think>6 · 7</think> so <answer>42</answer>", right],
    ["<answer>42</answer><think>6 · 7</think>", wrong],
    ["<think>6 · 7</think><answer>42</answer><answer>43</answer>", wrong],
    ["<think>6 · 7</think><answer>42", wrong],
    ["<think>6 · 7<answer>42</answer></think>", wrong],
    ["<think>6 · 7</think><answer> \n</answer>", wrong],
    ["<think>6 · 7</think></answer>42<answer>", wrong],
    ["<think><answer>42</answer>", wrong],
    ["", wrong],
  ])("tags, once, closed, in order: %j", (action, expected) => {
    expect(score({ tags: ["think", "answer"] }, action)).toMatchObject(expected);
  });

  it.each([
    [" <answer>42</answer>\n", right],
    ["It is <answer>42</answer>", wrong],
    ["<answer>42</answer>.", wrong],
  ])("nothing beside the tags: %j", (action, expected) => {
    expect(score({ tags: ["answer"], only: true }, action)).toMatchObject(expected);
  });

  it.each([
    ["It is \\boxed{\\frac{1}{2}}.", right],
    ["\\boxed{\\{1, 2\\}}", right],
    ["\\boxed{}", wrong],
    ["\\boxed{1} or \\boxed{2}", wrong],
    ["\\boxed{1", wrong],
    ["\\boxed{\\}", wrong],
    ["42", wrong],
  ])("boxed, once, balanced: %j", (action, expected) => {
    expect(score({ boxed: true }, action)).toMatchObject(expected);
  });

  it("a pattern takes time in proportion to the text, whatever it is, and one that can't be read is a mistake", () => {
    expect(score({ pattern: "^Answer: [0-9]+$" }, "Answer: 42")).toMatchObject(right);
    expect(score({ pattern: "^Answer: [0-9]+$" }, "My\nAnswer: 42")).toMatchObject(wrong);
    expect(score({ pattern: "^(a+)+$" }, `${"a".repeat(20_000)}!`)).toMatchObject(wrong); // a backtracking one never ends
    expect(() => score({ pattern: "(a)\\1" }, "aa")).toThrow(TypeError);
  });

  it("looks at the last action, each or the whole, and says which part of the form was there", () => {
    const actions = ["<answer>1</answer>", "<answer>2</answer> \\boxed{2}", "none"];
    expect(score({ tags: ["answer"], of: "last" }, ...actions)).toMatchObject(wrong);
    expect(score({ tags: ["answer"], boxed: true, of: "each" }, ...actions)).toEqual({
      reward: 1 / 3,
      success: false,
      turns: [0, 1 / 3, 0],
      metrics: { tags: 2 / 3, boxed: 1 / 3 },
    });
    expect(score({ tags: ["answer"], boxed: true, of: "whole" }, ...actions)).toEqual({
      ...wrong,
      metrics: { tags: 0, boxed: 1 },
    });
  });
});
