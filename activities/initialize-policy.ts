import { existsSync } from "node:fs";
import type { PolicyActivities } from "../src/contracts/activities.ts";
import { folderOnce } from "../src/runs/folder-once.ts";
import { patiently } from "../src/runs/patiently.ts";
import type { PolicyWorker } from "../src/temporal/policy-worker.ts";

/** Writes policy version 0, unless it is there already. */
export function initializePolicy(worker: PolicyWorker): PolicyActivities["initialize-policy"] {
  return async ({ run }) => {
    const { plan, folder } = await worker.openRun(run);
    const target = folder.policy(0);
    if (!existsSync(target)) {
      const plugin = await worker.plugin(run);
      const fill = (path: string) => plugin.initialize(path, plan.policy.config, plan.seed);
      await patiently(() => folderOnce(target, fill));
    }
    return { policyVersion: 0 };
  };
}
