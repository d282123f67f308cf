import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { ExecutionSettings, ResolvedReward } from "../../contracts/plan.ts";
import type { GroupRewardPlugin, RewardPlugin } from "../../contracts/reward.ts";
import { type PluginThread, pluginThread } from "../../plugin/host/plugin-thread.ts";
import type { StartThread } from "../../plugin/host/running-thread.ts";
import { openService, type Service } from "./service.ts";
import type { ToolHost } from "./tool-host.ts";

/** The open reward manager of a run. Its code runs in a separate thread. */
export interface OpenReward extends Service {
  /**
   * Calls are limited by the time-out. Throws REWARD_TIMED_OUT, REWARD_FAILED, PLUGIN_THREAD_ENDED, or the
   * signal's reason.
   */
  plugin: Pick<RewardPlugin, "score"> & Pick<GroupRewardPlugin, "scoreGroup">;
  close: PluginThread["close"];
}

/**
 * Starts the thread of a reward manager, with `start` or in this process. Throws PLUGIN_ENTRY_FAILED,
 * PLUGIN_EXPORT_INVALID.
 */
export async function openReward(
  resolved: ResolvedReward,
  settings: ExecutionSettings,
  host: ToolHost,
  log: (text: string) => void,
  start?: StartThread,
): Promise<OpenReward> {
  const reward = resolved.part ?? resolved.name;
  const { timeout: limit } = settings;
  const errors = {
    timedOut: () => new EverturnError("REWARD_TIMED_OUT", { reward, seconds: limit / 1000 }),
    failed: (reason: string, cause: unknown) =>
      new EverturnError("REWARD_FAILED", { reward, reason }, { cause }),
  };
  const gaveUp: Service["gaveUp"] = (times, reason, cause) =>
    new EverturnError("REWARD_GAVE_UP", { reward, times, reason }, { cause });
  const thread = pluginThread({ kind: "reward", plugin: resolved, limit, errors, log }, start);
  const functions = await thread.functions();
  const { config } = resolved;
  if (functions.has("probe")) host.breaker.probeWith(() => thread.ask("probe", { config }));
  return {
    ...openService(settings, host, gaveUp),
    plugin: {
      score: ({ signal, ...request }) => thread.ask("score", request, { signal }),
      scoreGroup: ({ signal, ...request }) => thread.ask("scoreGroup", request, { signal }),
    },
    close: thread.close,
  };
}
