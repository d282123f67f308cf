import { expect, test } from "vitest";
import { evaluationDetails, stepDetails } from "../../../../src/control/tracking/tracked-details.ts";
import { foldSteps } from "../../../../src/results/retention/fold-steps.ts";
import { freeRecords } from "../../../../src/results/retention/free-records.ts";
import { evaluationKey } from "../../../../src/run/store/keys.ts";
import { makeRun } from "../../../support/made-run.ts";
import { writeSampleRun } from "../../../support/sample-run.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const total = (counts: readonly number[] = []) => counts.reduce((sum, count) => sum + count, 0);

test("a step's details are the rewards that it trained on, and trajectories from the worst to the best", async () => {
  const size = {
    steps: 2,
    trajectories: 9,
    turns: 2,
    tokens: 8,
    singleRecords: 0,
    metrics: { format: 0.25 },
  };
  const run = await makeRun(temporaryFolder(), size);
  const details = await stepDetails(run, 1);
  const { histograms, tables } = details;
  expect(Object.keys(histograms ?? {})).toEqual(["train/rewards", "train/actionTokens"]);
  const rewards = histograms?.["train/rewards"];
  expect(rewards?.limits).toHaveLength((rewards?.counts.length ?? 0) + 1);
  expect(total(rewards?.counts)).toBe(9);
  expect(rewards?.counts.at(-1)).toBe(rewards?.sum); // rewards are 0 or 1
  expect(histograms?.["train/actionTokens"]).toMatchObject({ sum: 9 * 16, sumOfSquares: 9 * 256 });
  const { columns, rows } = tables?.["train/samples"] ?? { columns: [], rows: [] };
  expect(columns).toEqual(["trajectory", "task", "reward", "solved", "outcome", "prompt", "answer", "parts"]);
  expect(rows).toHaveLength(4);
  expect([rows[0]?.[2], rows[3]?.[2]]).toEqual([0, 1]);
  expect(rows[3]).toEqual([
    expect.stringMatching(/^made\/step-0001\/task-\d+\/\d$/),
    expect.stringMatching(/^task-\d+$/),
    1,
    true,
    "answered",
    expect.stringContaining("5 + 3"),
    expect.stringContaining("turn 2: 7 * 2"),
    "format 0.25",
  ]);
  await foldSteps(run, 2);
  await freeRecords(run, 2);
  expect(await stepDetails(run, 1)).toEqual(details);
});

test("an evaluation's details leave out what did not finish, and a step on examples has none", async () => {
  const sample = await writeSampleRun();
  const record = await sample.store.read(evaluationKey("evaluation-v0001"));
  if (record === undefined) throw new Error("there is no evaluation");
  const { histograms } = await evaluationDetails(sample, record);
  expect(total(histograms?.["evaluation/rewards"]?.counts)).toBe(record.tasks - record.leftOut);
  expect(await stepDetails(sample, 99)).toEqual({});
});
