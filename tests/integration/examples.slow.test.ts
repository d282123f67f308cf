import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readLines } from "../../src/base/files/line-file.ts";
import { namesIn } from "../../src/base/files/names-in.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import type { TrainingResult } from "../../src/contracts/run.ts";
import { readLedger } from "../../src/results/ledger/ledger.ts";
import { openRunFolder } from "../../src/run/folder/open-runs.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { everturn, lastLine } from "../support/command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const runs = temporaryFolder();
const pipeline = join(import.meta.dirname, "..", "pipelines", "small.yaml");
const preferences = join(runs, "preferences.jsonl");
const answer = (content: string) => [{ role: "assistant", content }];
const rows = Array.from({ length: 12 }, (_, index) => ({
  prompt: [{ role: "user", content: `${index} + 1 =` }],
  chosen: answer(`Answer: ${index + 1}`),
  rejected: answer("no"),
}));
writeFileSync(preferences, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));

test("a run on preference pairs after a warm start is a run like any other: recorded, extended, evaluated, in the ledger", async () => {
  const dpo = { preferences, epochs: 2, batchSize: 5, updates: 2, heldOut: 2, learningRate: 1e-3 };
  const sets = [
    `dpo=${JSON.stringify(dpo)}`,
    "steps=null",
    "dataset.train=null",
    "warmStart.steps=3",
    "evaluation.tasks=1",
    "evaluation.every=0",
  ];
  const made = await everturn(
    "run",
    pipeline,
    "--runs",
    runs,
    "--json",
    ...sets.flatMap((set) => ["--set", set]),
  );
  expect(lastLine<TrainingResult>(made.stdout), made.stderr).toMatchObject({ steps: 2, trajectories: 0 });
  const [run = ""] = (await namesIn(runs)).filter((name) => name.startsWith("small-"));
  const folder = runFolder(runs, run);
  const scores = join(folder.root, "reference-scores", "wanted", "0.json");
  const scored = statSync(scores).mtimeMs;

  const longer = await everturn("resume", folder.root, "--json", "--set", "steps=3");
  expect(lastLine<TrainingResult>(longer.stdout).steps, longer.stderr).toBe(3);
  expect(statSync(scores).mtimeMs).toBe(scored);
  const steps = await readLines<StepRecord>(folder.metrics);
  expect(steps.map(({ step, policyVersion, examples }) => [step, policyVersion, examples])).toEqual([
    [1, 2, 10],
    [2, 3, 10],
    [3, 4, 10],
  ]);
  expect(steps.at(-1)?.loss).toBeLessThan(steps[0]?.loss ?? 0);
  expect(steps[0]?.rewardMean).toBeUndefined();
  expect(await namesIn(join(folder.root, "evaluations"))).toEqual(
    [0, 1, 3, 4].map((version) => `evaluation-v000${version}.json`),
  );
  expect((await readLedger(await openRunFolder(runs, run))).findings).toEqual([]);
  const report = readFileSync(join(folder.root, "report.html"), "utf8");
  expect(report).toContain("after preference optimization");
});
