import { join } from "node:path";
import { expect, test } from "vitest";
import { initializePolicy } from "../../../activities/initialize-policy.ts";
import { loadPlan } from "../../../src/plan/pipeline/load-plan.ts";
import { createRunFolder } from "../../../src/run/folder/create-run-folder.ts";
import { openRuns } from "../../../src/run/folder/open-runs.ts";
import { initialKey } from "../../../src/run/store/keys.ts";
import { policyWorker } from "../../../src/work/workers/policy-worker.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("of several attempts at version 0 one makes it, after those that failed", async () => {
  const runs = temporaryFolder();
  const plan = await loadPlan(join(import.meta.dirname, "..", "..", "pipelines", "small.yaml"));
  const run = await createRunFolder(plan, { runs });
  const worker = policyWorker(openRuns(runs));
  const plugin = await worker.plugin(run);
  let begun = 0;
  const counted: typeof plugin = {
    ...plugin,
    initialize: async (...args) => {
      begun++;
      if (begun === 1) throw new Error("the disk is full");
      await plugin.initialize(...args);
    },
  };
  const initialize = initializePolicy({ ...worker, plugin: async () => counted });
  const attempts = await Promise.allSettled([1, 2, 3].map(() => initialize({ run })));
  expect(attempts).toMatchObject([
    { status: "rejected", reason: { message: "the disk is full" } },
    { status: "fulfilled", value: { policyVersion: 0 } },
    { status: "fulfilled", value: { policyVersion: 0 } },
  ]);
  expect(begun).toBe(2);
  const { store } = await worker.openRun(run);
  expect(await store.readTree(initialKey)).toMatchObject({ value: { policyVersion: 0 } });
  await worker.close();
});
