import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { evaluationStage } from "../../../../src/contracts/stages.ts";
import { readLedger } from "../../../../src/results/ledger/ledger.ts";
import { reserve } from "../../../../src/results/ledger/reservations.ts";
import { trainedStepKey } from "../../../../src/run/store/keys.ts";
import { treeRecordKey } from "../../../../src/run/store/tree-paths.ts";
import { makeRun } from "../../../support/made-run.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const made = await makeRun(temporaryFolder(), { steps: 3, trajectories: 8, turns: 1, tokens: 4 });
const findings = async () =>
  (await readLedger(made)).findings.map(({ check, subject, problem }) => `${check}: ${subject}: ${problem}`);

test("a run that lacks nothing has no findings", async () => {
  expect(await findings()).toEqual([]);
});

test("an evaluation whose record is missing is named once a later step is recorded", async () => {
  for (const version of [1, 3])
    await reserve(made.store, {
      stage: evaluationStage(version),
      groups: [{ task: "task-00001", samples: [0] }],
    });
  expect(await findings()).toEqual([
    "record: evaluations/evaluation-v0001.json: it is missing, but a later step is recorded; restore it from a backup",
  ]);
});

test("a commit that is missing is named alone, without each trajectory that it would account for", async () => {
  const before = await findings();
  const remove = (step: number) => rmSync(join(made.folder.root, treeRecordKey(trainedStepKey(step)).path));
  remove(1);
  remove(3);
  const added = (await findings()).filter((finding) => !before.includes(finding));
  expect(added.filter((finding) => !finding.startsWith("version: "))).toEqual([
    "metrics: step 1: is recorded, but steps/1/trained.json is missing or damaged; restore it from a backup",
    "metrics: step 3: is recorded, but steps/3/trained.json is missing or damaged; `npx everturn resume` repeats the step",
  ]);
});
