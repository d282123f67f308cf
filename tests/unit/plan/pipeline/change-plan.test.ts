import { join } from "node:path";
import { expect, test } from "vitest";
import { isEverturnError } from "../../../../src/base/errors/everturn-error.ts";
import { changeRun } from "../../../../src/control/supervision/change-run.ts";
import { changePlan } from "../../../../src/plan/pipeline/change-plan.ts";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { createRunFolder } from "../../../../src/run/folder/create-run-folder.ts";
import { openRuns } from "../../../../src/run/folder/open-runs.ts";
import { isKept } from "../../../../src/run/versions/kept-versions.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const small = join(import.meta.dirname, "..", "..", "..", "pipelines", "small.yaml");
const overrides = [
  "hosts={ calculator: { pause: 2s }, judge: { pause: 3s } }",
  "reward.host=judge",
  "rollout.limits={ time: 1h }",
];
const plan = await loadPlan(small, { overrides });

function refusals(...sets: string[]): string[] {
  try {
    changePlan(plan, sets, 3);
  } catch (error) {
    if (!isEverturnError(error)) throw error;
    return error.problems.map(({ message }) => message.replace(/\. Start a new run .*/, ""));
  }
  return [];
}

test("a plan that nothing changes stays as it is", () => {
  expect(changePlan(plan, [], 0)).toEqual({ plan, changed: [] });
  expect(changePlan(plan, ["steps=3", "tools.0.timeout=10s"], 3).changed).toEqual([]);
});

test("how long a run is, and how what runs it behaves, may change", () => {
  const { plan: next, changed } = changePlan(
    plan,
    ["steps=40", "tools.0.timeout=1m", "tools.0.retry.maximumAttempts=2", "hosts.calculator.patience=1m"],
    3,
  );
  expect(changed).toEqual([
    { key: "steps", from: 3, to: 40 },
    { key: "tools.0.retry.maximumAttempts", from: 5, to: 2 },
    { key: "tools.0.timeout", from: "10000ms", to: "1m" },
    { key: "hosts.calculator.patience", from: "900000ms", to: "1m" },
  ]);
  expect(next).toMatchObject({ steps: 40, hosts: { calculator: { pause: 2000, patience: 60_000 } } });
  expect(next.tools[0]).toMatchObject({ timeout: 60_000, retry: { maximumAttempts: 2 } });
  expect({ ...next, steps: 3, tools: plan.tools, hosts: plan.hosts }).toEqual(plan);
});

test.each([
  ["steps=2", "override steps=2: steps can't change in an existing run: step 3 has begun"],
  ["seed=8", "override seed=8: seed can't change in an existing run: all that the run draws follows from it"],
  [
    "rollout.batchSize=8",
    /rollout\.batchSize can't change in an existing run: the data cursor counts in it$/,
  ],
  ["rollout.temperature=2", /some of which may be under way, are sampled alike$/],
  ["rollout.staleness=1", /a run is synchronous or asynchronous from its beginning to its end$/],
  ["evaluation.tasks=9", /evaluations on different tasks can't be compared$/],
  ["dataset.train.config.limit=5", /the data cursor counts in these tasks$/],
  ["trainer.config.learningRate=1", /the optimizer's state is of these settings$/],
  ["stepz=9", "override stepz=9: unknown key “stepz” in the pipeline. Did you mean “steps”?"],
  ["steps=many", /^override steps=many: steps must be a whole number, but is “many”/],
])("%s is refused", (set, message) => {
  expect(refusals(set)).toEqual([expect.stringMatching(message)]);
});

test("a change is recorded in the plan, and seen by who has the run open", async () => {
  const runs = temporaryFolder();
  const run = await createRunFolder(plan, { runs });
  const open = openRuns(runs);
  const before = await open(run);
  expect(await changeRun(before, ["steps=3"])).toBeUndefined();
  const changed = await changeRun(before, ["steps=5", "checkpoints.every=4"]);
  expect(changed?.change).toMatchObject({
    step: 0,
    changed: [{ key: "steps" }, { key: "checkpoints.every" }],
  });
  const after = await open(run);
  expect(after.plan).toMatchObject({ steps: 5, checkpoints: { every: 4 }, changes: [changed?.change] });
  expect(after.plan).toEqual(changed?.plan);
  expect(await open(run)).toBe(after);
});

test("a version is kept if it was a checkpoint ever since", () => {
  const changed = [{ key: "checkpoints.every", from: 2, to: 3 }];
  const settings = { checkpoints: { every: 3 }, changes: [{ at: "", step: 10, changed }] };
  const kept = Array.from({ length: 21 }, (_, version) => version).filter((one) => isKept(settings, one, 30));
  expect(kept).toEqual([0, 6, 12, 15, 18]);
});
