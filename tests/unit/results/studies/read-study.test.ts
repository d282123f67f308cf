import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isEverturnError } from "../../../../src/base/errors/everturn-error.ts";
import { runId, runsOf } from "../../../../src/results/studies/job-runs.ts";
import { readStudy } from "../../../../src/results/studies/read-study.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
writeFileSync(join(folder, "pipeline.yaml"), "name: p\n");
let files = 0;

function written(text: string): string {
  const place = join(folder, String(files++));
  mkdirSync(place);
  writeFileSync(join(place, "pipeline.yaml"), "name: p\n");
  const file = join(place, "study.yaml");
  writeFileSync(file, text);
  return file;
}

function problems(text: string): string[] {
  try {
    readStudy(written(text));
  } catch (error) {
    if (isEverturnError(error))
      return error.problems.map(({ message }) => message.replace(/^.*study\.yaml:/, ""));
    throw error;
  }
  return [];
}

test("a study's paths are absolute, and defaults are filled in, whichever kind of job it is", () => {
  const file = written(`name: s
jobs:
  data: { command: [node, make.mjs], makes: [out/tasks.jsonl] }
  warm: { train: pipeline.yaml }
  held-out: { evaluate: warm, tasks: out/tasks.jsonl }
  policy: { export: warm, to: policy }
`);
  const { jobs, folder: place } = readStudy(file);
  expect(jobs).toEqual({
    data: { command: ["node", "make.mjs"], makes: [join(place, "out", "tasks.jsonl")] },
    warm: { train: join(place, "pipeline.yaml"), set: {} },
    "held-out": {
      evaluate: "warm",
      tasks: join(place, "out", "tasks.jsonl"),
      versions: ["newest"],
      samples: 1,
      tools: true,
    },
    policy: { export: "warm", to: join(place, "policy"), dtype: "float32", merge: false },
  });
});

test("a matrix has a run for each combination, the last key changing first", () => {
  const job = {
    train: "p",
    set: { steps: 2, seed: 9 },
    matrix: { "rollout.batchSize": [8, 16], seed: [1, 2] },
  };
  expect(runsOf(job).map(({ overrides }) => overrides.join(" "))).toEqual([
    "steps=2 seed=1 rollout.batchSize=8",
    "steps=2 seed=2 rollout.batchSize=8",
    "steps=2 seed=1 rollout.batchSize=16",
    "steps=2 seed=2 rollout.batchSize=16",
  ]);
});

test("a run's id has its number only if the job has a matrix", () => {
  const job = { train: "p", matrix: { seed: [1, 2] } };
  expect([runId("s", "rl", job, 3), runId("s", "warm", {}, 1)]).toEqual(["s-rl-3", "s-warm"]);
});

test.each([
  ["jobs: { a: { train: pipeline.yaml } }", /^1:1: .*“name”/],
  ["name: s\njobs: {}", /^2:7: .*must not be empty/],
  [
    "name: s\njobs:\n  a: { trian: pipeline.yaml }",
    /^3:3: .*the job a: it has none of train, .*Did you mean “train”\?$/,
  ],
  ["name: s\njobs:\n  a: { train: pipline.yaml }", /^3:15: .*pipline\.yaml.*Did you mean “pipeline\.yaml”/],
  ["name: s\njobs:\n  a: { train: pipeline.yaml, seeds: [1] }", /^3:30: .*“seeds”/],
  ["name: s\njobs:\n  a: { train: pipeline.yaml, matrix: { seed: 1 } }", /^3:46: .*list/],
  [
    "name: s\njobs:\n  a: { train: pipeline.yaml }\n  b: { evaluate: c }",
    /^4:18: .*“c” is not an earlier job/,
  ],
  [
    "name: s\njobs:\n  warm: { train: pipeline.yaml }\n  b: { evaluate: wram }",
    /^4:18: .*Did you mean “warm”/,
  ],
  ["name: s\njobs:\n  b: { evaluate: a }\n  a: { train: pipeline.yaml }", /^3:18: .*No job before it trains/],
  [
    "name: s\njobs:\n  a: { train: pipeline.yaml, matrix: { seed: [1, 2] } }\n  b: { train: pipeline.yaml, from: a }",
    /^4:36: .*“a” has 2 runs/,
  ],
  ["name: s\njobs:\n  a: { command: [], makes: [x] }", /^3:17: .*must not be empty/],
  ["name: s\njobs:\n  a: { command: [node] }", /^3:3: .*“makes”/],
  ["name: s\njobs:\n  a: { export: b }", /^3:3: .*“to”/],
  ["name: s\njobs:\n  A b: { train: pipeline.yaml }", /^3:3: /],
  [`name: \${NOWHERE_SET}\njobs: { a: { train: pipeline.yaml } }`, /^1:7: .*NOWHERE_SET/],
])("a wrong study is told with its place: %s", (text, expected) => {
  const said = problems(text);
  expect(said.join("\n")).toMatch(new RegExp(expected.source, "m"));
});
