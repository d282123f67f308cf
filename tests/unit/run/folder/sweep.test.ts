import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { newAttempt } from "../../../../src/base/files/temporary-name.ts";
import type { StepRecord } from "../../../../src/contracts/generated/step-record.ts";
import type { TrainedStep } from "../../../../src/contracts/ledger.ts";
import { createRunFolder } from "../../../../src/run/folder/create-run-folder.ts";
import { openRunFolder } from "../../../../src/run/folder/open-runs.ts";
import { sweepRun } from "../../../../src/run/folder/sweep.ts";
import { foldedKey, recordedStepKey, trainedStepKey } from "../../../../src/run/store/keys.ts";
import { treeRecordKey } from "../../../../src/run/store/tree-paths.ts";
import { samplePlan } from "../../../support/sample-plan.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const runs = temporaryFolder();
const small = { steps: 1, batchSize: 8, tasks: 2, warmStart: false, evaluationEvery: 1 };
const opened = await openRunFolder(runs, await createRunFolder(samplePlan(small), { runs }));

const dead = newAttempt().replace(/\.\d+\./, ".4194000."); // no such process
const foreign = dead.replace(/^[0-9a-f]+/, "00000000"); // of another machine

/** A temporary file in the run's folder, so many hours old. */
function temporary(path: string, attempt: string, hours = 0): string {
  const file = join(opened.folder.root, `${path}.${attempt}.tmp`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "");
  const then = Date.now() / 1000 - hours * 3600;
  utimesSync(file, then, then);
  return file;
}

test("what killed writers left is deleted, what is being written is not, and no trajectory is looked at", async () => {
  const left = [
    ...["session.json", "workflows/builds.json", "writing/object"].map((path) => temporary(path, dead)),
    temporary("report.html", foreign, 2),
    temporary("writing/foreign", foreign, 2),
  ];
  const kept = [
    temporary("session.json", newAttempt()),
    temporary("writing/object", foreign),
    temporary("trajectories/step-0001/task-00001/0/turn-1.json", dead),
  ];
  expect(await sweepRun(opened)).toMatchObject({ files: left.length });
  expect(left.filter(existsSync)).toEqual([]);
  expect(kept.filter(existsSync)).toEqual(kept);
});

/** An attempt at a step that a killed writer left. */
function attemptAt(step: number): string {
  const { tree } = trainedStepKey(step);
  const file = join(opened.folder.root, tree, dead, "policy", "weights");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "");
  return file;
}

/** Commits a step as a living writer does. */
const commit = (step: number) =>
  opened.store.tree(
    trainedStepKey(step),
    async (folder) => writeFileSync(join(folder, "file"), ""),
    () => ({ step, policyVersion: step, trajectories: [], leftOut: [] }) as unknown as TrainedStep,
  );

const fold = (step: number) =>
  opened.store.tree(
    foldedKey(step),
    async (folder) => writeFileSync(join(folder, "file"), ""),
    () => ({ trajectories: [] }),
  );

test("a sweep looks at the newest steps, back to one that is folded, however many there are; a whole one at all", async () => {
  for (let step = 1; step <= 8; step++) {
    await commit(step);
    await opened.store.record(recordedStepKey(step), { step } as StepRecord);
    if (step <= 5) await fold(step);
  }
  const newest = [5, 6, 7, 8, 9].map(attemptAt);
  const old = attemptAt(3);
  expect(await sweepRun(opened)).toEqual({ files: 0, attempts: newest.length });
  expect(newest.filter(existsSync)).toEqual([]);
  expect(existsSync(old)).toBe(true);
  expect(await sweepRun(opened, { isWhole: true })).toEqual({ files: 0, attempts: 1 });
});

test("the files of a recorded step whose commit is lost stay, for whoever restores the record from a copy", async () => {
  rmSync(join(opened.folder.root, treeRecordKey(trainedStepKey(8)).path));
  for (const isWhole of [false, true])
    expect(await sweepRun(opened, { isWhole })).toEqual({ files: 0, attempts: 0 });
});
