import type { Policy, PolicyPlugin } from "../contracts/policy.ts";
import { loadPolicy } from "../plugins/registry.ts";
import { type OpenRun, openRuns } from "../runs/open-runs.ts";
import { sharedPromises } from "../runs/shared-promises.ts";

/** What the activities of the queue `policy` share in a worker: open runs and their policies. */
export interface PolicyWorker {
  openRun(run: string): Promise<OpenRun>;
  plugin(run: string): Promise<PolicyPlugin>;
  /** The run's policy with `version` loaded. */
  policy(run: string, version: number): Promise<Policy>;
  close(): Promise<void>;
}

/** A policy worker over the runs in the folder `runs`. */
export function policyWorker(runs: string): PolicyWorker {
  const openRun = openRuns(runs);
  const policies = sharedPromises<Policy>();

  async function plugin(run: string): Promise<PolicyPlugin> {
    return loadPolicy((await openRun(run)).plan.policy);
  }

  async function open(run: string, version: number): Promise<Policy> {
    const { folder, plan } = await openRun(run);
    return (await plugin(run)).open(folder.policy(version), plan.policy.config);
  }

  return {
    openRun,
    plugin,
    policy: async (run, version) => {
      const policy = await policies.get(run, () => open(run, version));
      await policy.load(version, (await openRun(run)).folder.policy(version));
      return policy;
    },
    close: async () => {
      for (const opening of policies.all()) await (await opening).close();
    },
  };
}
