import type { ResolvedPlugin } from "../contracts/plan.ts";
import type { RewardPlugin } from "../contracts/reward.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { pluginThread } from "../threads/plugin-thread.ts";

/** How long a reward manager may take for a trajectory, ms. */
const limit = 60_000;

/** A reward manager as its worker sees it: its code is in a thread of its own. */
export interface RewardThread {
  /** Throws REWARD_TIMED_OUT, REWARD_FAILED, PLUGIN_THREAD_ENDED. */
  plugin: RewardPlugin;
  close(): Promise<void>;
}

/** Starts the thread of a reward manager. Throws PLUGIN_ENTRY_FAILED, PLUGIN_EXPORT_INVALID. */
export async function rewardThread(
  resolved: ResolvedPlugin,
  log: (text: string) => void,
): Promise<RewardThread> {
  const reward = resolved.name;
  const errors = {
    timedOut: () => new EverturnError("REWARD_TIMED_OUT", { reward, seconds: limit / 1000 }),
    failed: (reason: string, cause: unknown) =>
      new EverturnError("REWARD_FAILED", { reward, reason }, { cause }),
  };
  const thread = pluginThread({ kind: "reward", plugin: resolved, limit, errors, log });
  await thread.functions();
  return { plugin: { score: (request) => thread.ask("score", request) }, close: thread.close };
}
