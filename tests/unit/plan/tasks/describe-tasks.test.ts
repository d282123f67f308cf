import { expect, test } from "vitest";
import { describeExamples } from "../../../../src/apps/cli/commands/data/describe-examples.ts";
import { inspectionText } from "../../../../src/apps/cli/commands/data/inspection-text.ts";
import { defined } from "../../../../src/base/records/defined.ts";
import type { DemonstratedChat } from "../../../../src/plan/pipeline/read/demonstrated-chat.ts";
import { describeTasks, sharedTasks } from "../../../../src/plan/tasks/describe-tasks.ts";
import { parseTasks } from "../../../../src/plan/tasks/parse-tasks.ts";

const row = (question: string, answer: string, more: object = {}) => ({
  data_source: "sums",
  prompt: [{ role: "user", content: question }],
  reward_model: { ground_truth: answer },
  ...more,
});
const tasks = (path: string, rows: object[]) =>
  parseTasks(rows.map((one) => JSON.stringify(one)).join("\n"), path);

const trained = tasks("train.jsonl", [
  row("1 + 1?", "2"),
  row("1 + 1?", "two", { ability: "math" }),
  row("What is 1 + 2, in words?", "3", { data_source: "words" }),
  row("2 + 0?", "2"),
]);
const held = tasks("held-out.jsonl", [row("9 + 9?", "18"), row("2 + 0?", "2")]);

test("tasks are told by source, length, answer and column; what is there twice, with its line", () => {
  const training = describeTasks(trained);
  expect(training).toEqual({
    rows: 4,
    sources: [
      ["sums", 3],
      ["words", 1],
    ],
    agents: [],
    characters: { least: 6, median: 6, most: 24 },
    groundTruths: {
      different: 3,
      commonest: [
        ["2", 2],
        ["two", 1],
        ["3", 1],
      ],
    },
    columns: [["ability", 1]],
    repeated: ["train.jsonl:2"],
  });
  const shared = sharedTasks(trained, held);
  expect(shared).toEqual(["held-out.jsonl:2"]);
  const tokens = [{ name: "dataset.train", rows: 4, counted: 4, longest: 30 }];
  const text = inspectionText({ training, validation: describeTasks(held), shared, tokens });
  expect(text.split("\n")).toEqual([
    "training: 4 tasks",
    "  sources   sums 3, words 1",
    "  prompts   6 to 24 characters, median 6; up to 30 tokens with template and tools",
    '  answers   3 different; the commonest "2" × 2, "two" × 1, "3" × 1',
    "  columns   ability 1",
    "  repeated  1 row with the prompt of an earlier row: train.jsonl:2",
    "held-out: 2 tasks",
    "  sources   sums 2",
    "  prompts   6 to 6 characters, median 6",
    '  answers   2 different; the commonest "18" × 1, "2" × 1',
    "  repeated  none",
    "1 held-out task also in the training data, so not held out: held-out.jsonl:2",
  ]);
});

test("a held-out task is also a training task if all but its split and index is the same", () => {
  const extra = (more: object) => ({ extra_info: more });
  const learned = tasks("train.jsonl", [
    row("Act.", "", extra({ split: "train", index: 0, openenv: { seed: 1 } })),
    row("1 + 1?", "2", extra({ split: "train", index: 1 })),
  ]);
  const tested = tasks("held-out.jsonl", [
    row("Act.", "", extra({ split: "train", index: 0, openenv: { seed: 2 } })),
    row("Act.", "", extra({ split: "test", index: 7, openenv: { seed: 1 } })),
    row("1 + 1?", "10", extra({ split: "train", index: 1 })),
    row("1 + 1?", "2"),
  ]);
  expect(sharedTasks(learned, tested)).toEqual(["held-out.jsonl:2", "held-out.jsonl:4"]);
});

test("no tasks are no trouble", () => {
  expect(describeTasks([])).toMatchObject({ rows: 0, characters: { least: 0, median: 0, most: 0 } });
});

test("where steps train on pairs, these are told in place of training tasks", () => {
  const chat = (question: string, answer: string): DemonstratedChat => ({
    messages: [
      { role: "user", content: question },
      { role: "assistant", content: answer },
    ],
    given: new Set([0]),
  });
  const learned = [chat("1 + 1?", "It is 2."), chat("2 + 2?", "4"), chat("1 + 1?", "It is 2.")];
  const rejected = [chat("1 + 1?", "3"), chat("2 + 2?", "5"), chat("1 + 1?", "3")];
  const dpo = { preferences: "pairs.jsonl", batchSize: 1, updates: 1, heldOut: 1, learningRate: 1 };
  const examples = describeExamples(
    { dpo: { ...dpo, beta: 0.1, loss: "sigmoid", labelSmoothing: 0 } },
    { learned, rejected },
  );
  const tokens = [{ name: "dpo.preferences", rows: 3, counted: 3, longest: 9 }];
  const text = inspectionText(
    defined({
      examples,
      validation: describeTasks(held),
      shared: [],
      tokens,
    }),
  );
  expect(text.split("\n").slice(0, 6)).toEqual([
    "training: 3 pairs, 1 of them held out",
    "  prompts   6 to 6 characters, median 6",
    "  chosen    1 to 8 characters, median 8; up to 9 tokens with template and tools",
    "  rejected  1 to 1 character, median 1",
    "  repeated  1 row identical to an earlier row: row 3",
    "held-out: 2 tasks",
  ]);
  expect(describeExamples({}, { learned: [], rejected: [] })).toBeUndefined();
});

test("demonstrations with token ids are counted, with the mean log-probability of their model's tokens", () => {
  const messages: DemonstratedChat["messages"] = [
    { role: "user", content: "1 + 1?" },
    { role: "assistant", content: "2" },
  ];
  const sampled = { tokens: [1, 2, 3], mask: [0, 1, 1], logprobs: [0, -1, -0.5] };
  const unknown = { tokens: [1, 2], mask: [0, 1] };
  const learned = [{ messages, sampled }, { messages, sampled: unknown }, { messages }];
  const sft = { demonstrations: "d.jsonl", batchSize: 1, updates: 1, heldOut: 0, learningRate: 1 };
  const examples = describeExamples({ sft }, { learned, rejected: [] });
  expect(examples?.sampled).toEqual({ rows: 2, logprob: -0.75 });
  const inspection = { examples, validation: describeTasks(held), shared: [], tokens: [] };
  expect(inspectionText(defined(inspection))).toContain(
    "  token ids in 2 of 3 rows, which train as they were sampled; mean log-probability -0.75 per token",
  );
});
