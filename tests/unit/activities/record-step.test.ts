import { existsSync, mkdirSync } from "node:fs";
import { expect, test } from "vitest";
import { recordStep } from "../../../activities/record-step.ts";
import type { StepRecord } from "../../../src/contracts/generated/step-record.ts";
import { readLines } from "../../../src/runs/files.ts";
import { openRun } from "../../../src/runs/open-runs.ts";
import { writeSampleRun } from "../../support/sample-run.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const { runs, id: run, folder, plan } = await writeSampleRun({}, temporaryFolder());
const open = async (id: string) => ({
  ...(await openRun(runs, id)),
  plan: { ...plan, checkpoints: { every: 4 } },
});
const [template] = await readLines<StepRecord>(folder.metrics);

test("a step's line is written once, however often it is recorded", async () => {
  const before = (await readLines(folder.metrics)).length;
  if (template === undefined) throw new Error("the sample run has no steps");
  const record = { ...template, step: before + 1, policyVersion: before + 2 };
  await recordStep(open)({ run, record });
  await recordStep(open)({ run, record });
  expect(await readLines(folder.metrics)).toHaveLength(before + 1);
});

test("checkpoints and the newest versions stay, other old ones go", async () => {
  if (template === undefined) throw new Error("the sample run has no steps");
  for (let version = 0; version <= 12; version++) {
    mkdirSync(folder.policy(version), { recursive: true });
    mkdirSync(folder.trainer(version), { recursive: true });
    await recordStep(open)({ run, record: { ...template, step: version - 1, policyVersion: version } });
  }
  const kept = Array.from({ length: 13 }, (_, version) => version).filter((version) =>
    existsSync(folder.policy(version)),
  );
  expect(kept).toEqual([0, 1, 5, 9, 10, 11, 12]);
  expect(existsSync(folder.trainer(8))).toBe(false);
});
