import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { readLines } from "../../src/base/files/line-file.ts";
import { namesIn, namesInSync } from "../../src/base/files/names-in.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import type { TrainingResult } from "../../src/contracts/run.ts";
import { readLedger } from "../../src/results/ledger/ledger.ts";
import { openRunFolder } from "../../src/run/folder/open-runs.ts";
import { everturn, lastLine, start } from "../support/command.ts";
import { scriptedPolicy, writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { stageRecords } from "../support/stage-records.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const plugins = join(import.meta.dirname, "..", "plugins");
const count = '<tool_call>{"name":"count","arguments":{"text":"abc"}}</tool_call>';
/** How long everything is down: longer than a trajectory may take. */
const outage = 6000;

/**
 * Steps of two trajectories whose turns may take 3 s and which may take 5 s in all: one has three turns of 0.3 s; the
 * tool of the other takes a minute.
 */
const pipeline = writeScriptedPipeline(folder, [], {
  steps: 9,
  policy: scriptedPolicy({
    conversations: [["<tool_call>?</tool_call>", "<tool_call>?</tool_call>", "1"], [count]],
    seconds: 0.3,
  }),
  tools: [
    {
      plugin: join(plugins, "tool-counted"),
      config: { log: join(folder, "calls.log"), pause: 60_000 },
      timeout: "2m",
    },
  ],
  rollout: { batchSize: 2, groupSize: 2, limits: { turnTime: "3s", time: "5s" } },
  evaluation: { tasks: 1, every: 50 },
});

let run = "";
const root = () => join(runs, run);
const resume = (...sets: string[]) =>
  everturn("resume", root(), "--json", ...sets.flatMap((set) => ["--set", set]));

test("time in which everything was down counts for no limit, and what a tool takes too long for is scored; resume --set makes a run shorter that is under way", async () => {
  const command = start("run", pipeline, "--runs", runs, "--json");
  const trajectories = () => {
    const [started = ""] = namesInSync(runs);
    const stage = join(runs, started, "trajectories", "step-0001");
    return namesInSync(stage).flatMap((task) =>
      namesInSync(join(stage, task)).map((sample) => join(stage, task, sample)),
    );
  };
  await vi.waitUntil(() => trajectories().some((path) => namesInSync(path).includes("turn-1.json")), {
    timeout: 250_000,
    interval: 50,
  });
  const firstTurn = Date.now();
  command.killGroup();
  await command.end();
  [run = ""] = namesInSync(runs);
  const [refused] = await Promise.all([resume("seed=2"), sleep(outage)]);
  expect(lastLine(refused.stdout)).toMatchObject({
    error: { code: "WRONG_CONFIGURATION", problems: [{ code: "PLAN_NOT_CHANGEABLE" }] },
  });

  const shorter = await resume("steps=2", "evaluation.every=1");
  expect(lastLine<TrainingResult>(shorter.stdout).steps, shorter.stderr).toBe(2);
  expect(shorter.stderr).toContain("the plan changed: steps 9 → 2, evaluation.every 50 → 1");
  const [first] = await readLines<StepRecord>(join(root(), "metrics.jsonl"));
  const wall = statSync(join(root(), "steps", "1", "recorded.json")).mtimeMs - firstTurn;
  expect(first?.seconds.total).toBeLessThan((wall - outage) / 1000);
  const records = await stageRecords(root(), "step-0001");
  const ended = records.map(({ outcome, turns }) => ({ outcome, turns: turns.length }));
  expect(ended).toEqual([
    { outcome: "answered", turns: 3 },
    { outcome: "time-limit", turns: 1 },
  ]);
});

test("resume --set makes a run longer that has ended; the ledger holds", async () => {
  const longer = await resume("steps=3");
  expect(lastLine<TrainingResult>(longer.stdout).steps, longer.stderr).toBe(3);
  expect(longer.stderr.match(/^ *(step \d+|held-out accuracy .* after step \d+)/gm)).toEqual([
    "step 3",
    expect.stringMatching(/ after step 3$/),
  ]);
  const opened = await openRunFolder(runs, run);
  const steps = await readLines<StepRecord>(opened.folder.metrics);
  expect(steps.map(({ step }) => step)).toEqual([1, 2, 3]);
  const evaluated = await namesIn(join(root(), "evaluations"));
  expect(evaluated).toEqual([0, 1, 2, 3].map((version) => `evaluation-v000${version}.json`));
  expect(opened.plan.changes?.map(({ step, changed }) => [step, changed.map(({ to }) => to)])).toEqual([
    [expect.any(Number), [2, 1]],
    [2, [3]],
  ]);
  expect((await readLedger(opened)).findings).toEqual([]);
});
