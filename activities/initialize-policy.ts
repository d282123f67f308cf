import { existsSync } from "node:fs";
import type { PolicyActivities } from "../src/contracts/activities.ts";
import { folderOnce } from "../src/files/folder-once.ts";
import { patiently } from "../src/files/patiently.ts";
import { policyFraming } from "../src/pipeline/preflight.ts";
import { refuseRows } from "../src/pipeline/refuse-rows.ts";
import type { PolicyWorker } from "../src/roles/policy-worker.ts";

/**
 * Writes policy version 0, unless it is there already. Where nobody could count the tokens of the run's rows before, that
 * is done now. Throws WRONG_CONFIGURATION.
 */
export function initializePolicy(worker: PolicyWorker): PolicyActivities["initialize-policy"] {
  return async ({ run }) => {
    const { plan, folder } = await worker.openRun(run);
    const target = folder.policy(0);
    const isNew = !existsSync(target);
    const wasCounted = isNew && (await policyFraming(plan.policy)) !== undefined;
    if (isNew) {
      const plugin = await worker.plugin(run);
      const fill = (path: string) => plugin.initialize(path, plan.policy.config, plan.seed);
      await patiently(() => folderOnce(target, fill));
    }
    if (!wasCounted) await refuseRows(plan, target);
    return { policyVersion: 0 };
  };
}
