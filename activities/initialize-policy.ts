import { join } from "node:path";
import { oneAtATime } from "../src/base/async/one-at-a-time.ts";
// biome-ignore lint/style/noRestrictedImports: the folder in which a tree is written
import { makeFolder } from "../src/base/files/make-folder.ts";
import { persistently } from "../src/base/files/persistently.ts";
import type { PolicyActivities } from "../src/contracts/activities.ts";
import { policyFraming } from "../src/plan/pipeline/check/preflight.ts";
import { refuseRows } from "../src/plan/pipeline/check/refuse-rows.ts";
import { initialKey } from "../src/run/store/keys.ts";
import { inPart } from "../src/run/store/tree-part.ts";
import { policyPart } from "../src/run/versions/version-parts.ts";
import type { PolicyWorker } from "../src/work/workers/policy-worker.ts";

/**
 * Writes policy version 0 unless it exists. Counts the tokens of the run's rows if the checks before the run
 * could not. An attempt that begins while an abandoned one is still writing waits for it, and uses what it
 * wrote. Throws WRONG_CONFIGURATION.
 */
export function initializePolicy(worker: PolicyWorker): PolicyActivities["initialize-policy"] {
  const alone = oneAtATime();
  const initialize = async (run: string) => {
    const { plan, store } = await worker.openRun(run);
    const isNew = (await store.readTree(initialKey)) === undefined;
    const wasCounted = isNew && (await policyFraming(plan.policy)) !== undefined;
    if (isNew) {
      const plugin = await worker.plugin(run);
      const write = async (folder: string) => {
        const policy = join(folder, "policy");
        await persistently(() => makeFolder(policy));
        await plugin.initialize(policy, plan.policy.config, plan.seed);
      };
      await store.tree(initialKey, write, () => ({ policyVersion: 0 }));
    }
    if (!wasCounted) await inPart(store, policyPart(plan, 0), (folder) => refuseRows(plan, folder));
    return { policyVersion: 0 };
  };
  return ({ run }) => alone(run, () => initialize(run));
}
