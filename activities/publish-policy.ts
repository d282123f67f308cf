import type { PolicyActivities } from "../src/contracts/activities.ts";
import type { PolicyWorker } from "../src/work/workers/policy-worker.ts";

/** Loads a version ahead of the trajectories that will use it; other policy workers load it at their first turn. */
export function publishPolicy(worker: PolicyWorker): PolicyActivities["publish-policy"] {
  return async ({ run, policyVersion }) => {
    const started = performance.now();
    await worker.policy(run, policyVersion);
    return { seconds: (performance.now() - started) / 1000 };
  };
}
