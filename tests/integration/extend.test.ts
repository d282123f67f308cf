import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import type { TrainingResult } from "../../src/contracts/run.ts";
import { readLines } from "../../src/files/line-file.ts";
import { namesIn } from "../../src/files/names-in.ts";
import { openRun } from "../../src/runs/open-runs.ts";
import { runFolder } from "../../src/runs/run-folder.ts";
import { everturn, lastLine, start } from "../support/command.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const runs = temporaryFolder();
const call = '<tool_call>{"name":"calculator","arguments":{"expression":"1 + 1"}}</tool_call>';
const pipeline = writeScriptedPipeline(runs, [[call, "2"]], {
  ...{ tools: [{ plugin: "tool-calculator" }], steps: 9, rollout: { batchSize: 4 } },
  evaluation: { tasks: 1, every: 50 },
});

test("resume --set changes how long a run is, under way and when it has ended; the ledger holds", async () => {
  const command = start("run", pipeline, "--runs", runs, "--set", "policy.config.seconds=0.5");
  const run = await vi.waitUntil(
    async () => (await namesIn(runs)).find((name) => name.startsWith("scripted-")),
    { timeout: 400_000 },
  );
  const folder = runFolder(runs, run);
  const steps = () => readLines<StepRecord>(folder.metrics);
  await vi.waitUntil(async () => (await steps()).length >= 2, { timeout: 400_000 });
  command.killGroup();
  await command.end();

  const resume = (...sets: string[]) =>
    everturn("resume", folder.root, "--json", ...sets.flatMap((set) => ["--set", set]));
  const refused = await resume("seed=2");
  expect(lastLine(refused.stdout)).toMatchObject({
    error: { code: "WRONG_CONFIGURATION", problems: [{ code: "PLAN_NOT_CHANGEABLE" }] },
  });

  const shorter = await resume("steps=5", "evaluation.every=4");
  expect(lastLine<TrainingResult>(shorter.stdout).steps, shorter.stderr).toBe(5);
  expect(shorter.stderr).toContain("the plan changed: steps 9 → 5, evaluation.every 50 → 4");
  const longer = await resume("steps=6");
  expect(lastLine<TrainingResult>(longer.stdout).steps, longer.stderr).toBe(6);

  expect((await steps()).map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6]);
  const evaluated = await namesIn(join(folder.root, "evaluations"));
  expect(evaluated).toEqual([0, 4, 5, 6].map((version) => `evaluation-v000${version}.json`));
  const { plan } = await openRun(runs, run);
  expect(plan.changes?.map(({ step, changed }) => [step, changed.map(({ to }) => to)])).toEqual([
    [expect.any(Number), [5, 4]],
    [5, [6]],
  ]);
  const ledger = await everturn("ledger", folder.root);
  expect(ledger.stdout, ledger.stderr).toContain("The ledger holds.");
});
