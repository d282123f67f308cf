import { expect, test } from "vitest";
import reward from "../../../plugins/reward-tool-use/index.ts";
import type { Call } from "../../../src/contracts/generated/trajectory.ts";
import type { JsonObject } from "../../../src/contracts/json.ts";

const marks = { called: 1, turn: 0, valid: 0, invalid: -0.1, repeated: 0, tooMany: -0.1, none: 0 };

function call(tool: string, given: Call["arguments"], valid = true): Call {
  return { tool, arguments: given, observation: "", valid, attempts: 1 };
}

function score(config: JsonObject, ...turns: Call[][]) {
  return reward.score({
    task: { data_source: "test", prompt: [], reward_model: { ground_truth: "" } },
    turns: turns.map((toolCalls) => ({ action: "", toolCalls })),
    outcome: "answered",
    answer: "",
    config: { ...marks, ...config },
    signal: new AbortController().signal,
  });
}

test("what a turn's calls earn is earned in the turn", () => {
  const config = { called: 1, turn: 0.5, valid: 0.25, invalid: -1, repeated: -2, most: 4, tooMany: -4 };
  const found = score(
    config,
    [call("search", "{broken", false)],
    [call("search", { query: "a", top: 1 }), call("fetch", { query: "a", top: 1 })],
    [call("search", { top: 1, query: "a" })],
    [call("search", { query: "b" })],
    [],
  );
  expect(found).toEqual({
    reward: -5,
    success: false,
    turns: [-1, 1 + 0.25 + 0.25 + 0.5, -2, -4, 0],
    metrics: { calls: 5, valid: 4, invalid: 1, repeated: 1, tooMany: 1 },
  });
});

test("a trajectory whose calls are all valid is solved", () => {
  expect(score({}, [call("search", {})], [])).toMatchObject({ reward: 1, success: true, turns: [1, 0] });
});

test("a trajectory without a call earns `none`", () => {
  expect(score({ none: -1 }, [], [])).toMatchObject({ reward: -1, success: false, turns: [0, 0] });
});

test("calls of other tools don't count, if some are named", () => {
  const config = { tools: ["search"], none: -1 };
  expect(score(config, [call("fetch", {})])).toMatchObject({ reward: -1, metrics: { calls: 0 } });
  expect(score(config, [call("serch", {}, false)])).toMatchObject({ reward: -0.1, metrics: { invalid: 1 } });
});
