import type { Policy, PolicyPlugin } from "../contracts/policy.ts";
import { loadPolicy } from "../plugins/registry.ts";
import { sharedPromises } from "../promises/shared-promises.ts";
import { newestPolicy } from "../runs/newest-policy.ts";
import { type OpenRun, openRuns } from "../runs/open-runs.ts";
import { type Contexts, openContexts } from "../trajectory/contexts.ts";

/** What the activities of the queue `policy` share in a worker: open runs and their policies. */
export interface PolicyWorker {
  openRun(run: string): Promise<OpenRun>;
  plugin(run: string): Promise<PolicyPlugin>;
  /** The run's policy with `version` loaded; `folder` holds another policy's weights in its place. */
  policy(run: string, version: number, folder?: string): Promise<Policy>;
  /** How the run's policy frames text, whichever its version. */
  framing(run: string): Promise<Pick<Policy, "frameObservation">>;
  /** The tokens of trajectories under way. */
  contexts: Contexts;
  close(): Promise<void>;
}

/** A policy worker over the runs in the folder `runs`. */
export function policyWorker(runs: string): PolicyWorker {
  const openRun = openRuns(runs);
  const policies = sharedPromises<Policy>();

  async function plugin(run: string): Promise<PolicyPlugin> {
    return loadPolicy((await openRun(run)).plan.policy);
  }

  async function open(run: string, folder: string): Promise<Policy> {
    const { plan } = await openRun(run);
    return (await plugin(run)).open(folder, plan.policy.config);
  }

  return {
    openRun,
    plugin,
    contexts: openContexts(),
    policy: async (run, version, elsewhere) => {
      const folder = elsewhere ?? (await openRun(run)).folder.policy(version);
      const policy = await policies.get(elsewhere ?? run, () => open(run, folder));
      await policy.load(version, folder);
      return policy;
    },
    framing: async (run) => {
      const { folder } = await openRun(run);
      return policies.get(run, async () => open(run, folder.policy((await newestPolicy(folder)) ?? 0)));
    },
    close: async () => {
      for (const opening of policies.all()) await (await opening).close();
    },
  };
}
