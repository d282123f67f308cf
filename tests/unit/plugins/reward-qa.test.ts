import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject, JsonValue } from "everturn/plugin";
import { expect, test } from "vitest";
import qa from "../../../plugins/reward-qa/index.ts";
import { squadScores } from "../../../plugins/reward-qa/squad.ts";
import { defined } from "../../../src/base/records/defined.ts";
import type { Task } from "../../../src/contracts/generated/task.ts";

interface Row {
  given: string;
  golds: string[];
  em: number;
  f1: number;
}

const fixture = join(import.meta.dirname, "..", "..", "fixtures", "qa-squad.json");
const rows: Row[] = JSON.parse(readFileSync(fixture, "utf8"));

test("the numbers are those of SQuAD's official script", () => {
  expect(rows.length).toBeGreaterThan(600);
  expect(rows.some(({ f1 }) => f1 > 0 && f1 < 1)).toBe(true);
  for (const { given, golds, em, f1 } of rows) {
    const scores = squadScores(given, golds);
    expect({ given, golds, em: scores.em }).toEqual({ given, golds, em });
    expect([given, Math.abs(scores.f1 - f1) < 1e-12]).toEqual([given, true]);
  }
});

function score(answer: string, config: JsonObject = {}, answers?: JsonValue) {
  const task: Task = {
    data_source: "qa",
    prompt: [{ role: "user" as const, content: "Who wrote Faust?" }],
    reward_model: defined({ ground_truth: "Goethe", answers }),
  };
  const { signal } = new AbortController();
  return qa.score({ task, turns: [], outcome: "answered", answer, config, signal });
}

test("the last <answer> counts, else nothing, the last line or the whole text", async () => {
  expect(await score("<answer>Schiller</answer> no: <answer> The Goethe! </answer>")).toEqual({
    reward: 1,
    success: true,
    metrics: { em: 1, f1: 1, answered: 1 },
  });
  expect(await score("Goethe")).toMatchObject({ reward: 0, success: false, metrics: { answered: 0 } });
  expect(await score("It was him.\nAnswer: Goethe", { extract: "last-line" })).toMatchObject({ reward: 1 });
  expect(await score("It was\nGoethe", { extract: "whole" })).toMatchObject({
    reward: 0,
    metrics: { f1: 0.5 },
  });
  expect(await score("", { extract: "whole" })).toMatchObject({ reward: 0 });
});

test("of several gold answers the best counts, by words with metric: f1", async () => {
  const answers = ["Johann Wolfgang von Goethe", "Goethe"];
  const given = "<answer>Wolfgang Goethe</answer>";
  expect(await score(given, { metric: "f1" }, answers)).toMatchObject({ reward: 2 / 3, success: false });
  expect(await score("<answer>johann wolfgang von goethe</answer>", {}, answers)).toMatchObject({
    reward: 1,
  });
  expect(await score(given, {}, "Goethe")).toEqual({
    missing: expect.stringContaining("not a list of texts"),
  });
});
