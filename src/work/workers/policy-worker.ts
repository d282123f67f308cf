import { sharedPromises } from "../../base/async/shared-promises.ts";
import { readPatiently } from "../../base/files/read-patiently.ts";
import type { Policy, PolicyPlugin } from "../../contracts/policy.ts";
import { loadPolicy } from "../../plugin/registry/registry.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { inPart, type KeptPart, keepPart } from "../../run/store/tree-part.ts";
import { type Contexts, openContexts } from "../../run/trajectory/contexts.ts";
import { type Journal, runJournal } from "../../run/trajectory/run-journal.ts";
import { policyPart } from "../../run/versions/version-parts.ts";

/** What the activities of the queue `policy` share in a worker: open runs and their policies. */
export interface PolicyWorker {
  openRun(run: string): Promise<OpenRun>;
  journal(run: string): Promise<Journal>;
  plugin(run: string): Promise<PolicyPlugin>;
  /** The run's policy with `version` loaded. `folder` replaces it with another policy's weights. */
  policy(run: string, version: number, folder?: string): Promise<Policy>;
  /** How the run's policy frames text, which is the same for all versions. */
  framing(run: string): Promise<Pick<Policy, "frameObservation">>;
  /** The tokens of trajectories in progress. */
  contexts: Contexts;
  close(): Promise<void>;
}

/** A policy in use, and the parts it may read. */
interface HeldPolicy {
  policy: Policy;
  kept?: KeptPart;
}

/** Creates a policy worker for the runs that `openRun` opens. */
export function policyWorker(openRun: (run: string) => Promise<OpenRun>): PolicyWorker {
  const policies = sharedPromises<HeldPolicy>();
  const journals = sharedPromises<Journal>();

  async function plugin(run: string): Promise<PolicyPlugin> {
    return loadPolicy((await openRun(run)).plan.policy);
  }

  /**
   * Opens the policy on version 0, which is never freed, or on another policy's folder. It may read there at
   * any time.
   */
  async function open(run: string, elsewhere: string | undefined): Promise<HeldPolicy> {
    const { folder, plan, store } = await openRun(run);
    const opener = await plugin(run);
    if (elsewhere !== undefined) return { policy: await opener.open(elsewhere, plan.policy.config) };
    const kept = await keepPart(store, policyPart(plan, 0));
    try {
      const policy = await readPatiently(folder.root, () => opener.open(kept.folder, plan.policy.config));
      return { policy, kept };
    } catch (error) {
      kept.release();
      throw error;
    }
  }

  const held = (run: string, elsewhere?: string) =>
    policies.get(elsewhere ?? run, () => open(run, elsewhere));

  return {
    openRun,
    journal: (run) => journals.get(run, async () => runJournal(await openRun(run))),
    plugin,
    contexts: openContexts(),
    policy: async (run, version, elsewhere) => {
      const { policy } = await held(run, elsewhere);
      if (policy.isLoaded(version)) return policy;
      const { plan, store } = await openRun(run);
      const load = (folder: string) => policy.load(version, folder);
      await (elsewhere === undefined ? inPart(store, policyPart(plan, version), load) : load(elsewhere));
      return policy;
    },
    framing: async (run) => (await held(run)).policy,
    close: async () => {
      for (const opening of policies.all()) {
        const { policy, kept } = await opening;
        await policy.close();
        kept?.release();
      }
    },
  };
}
