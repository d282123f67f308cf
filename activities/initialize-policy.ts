import { existsSync } from "node:fs";
import type { PolicyActivities } from "../src/contracts/activities.ts";
import { replaceFolder } from "../src/runs/replace-folder.ts";
import type { PolicyWorker } from "../src/temporal/policy-worker.ts";

/** Writes policy version 0, unless it is there already. */
export function initializePolicy(worker: PolicyWorker): PolicyActivities["initialize-policy"] {
  return async ({ run }) => {
    const { plan, folder } = await worker.openRun(run);
    if (!existsSync(folder.policy(0))) {
      const plugin = await worker.plugin(run);
      await replaceFolder(folder.policy(0), (path) => plugin.initialize(path, plan.policy.config, plan.seed));
    }
    return { policyVersion: 0 };
  };
}
