import pluginSchema from "../../../../schemas/plugin.schema.json" with { type: "json" };
import { defined } from "../../../base/records/defined.ts";
import type { RewardUse, ToolUse } from "../../../contracts/generated/pipeline.ts";
import type { RewardManifest, ToolManifest } from "../../../contracts/generated/plugin.ts";
import type { ExecutionSettings } from "../../../contracts/plan.ts";
import { parseDuration } from "../read/duration.ts";

type Defaults = Pick<ToolManifest, "retry" | "timeout" | "concurrency" | "rate" | "host">;

/** The settings for calls of the plugin `name`. The pipeline's settings override the manifest's. */
export function callSettings(
  name: string,
  block: Defaults,
  use: Partial<ToolUse | RewardUse>,
): ExecutionSettings {
  const retry = { ...block.retry, ...use.retry };
  const concurrency = use.concurrency ?? block.concurrency;
  const rate = use.rate ?? block.rate;
  const firstWait = parseDuration(retry.initialInterval);
  return defined({
    retry: {
      maximumAttempts: retry.maximumAttempts,
      initialInterval: firstWait,
      backoffCoefficient: retry.backoffCoefficient,
      maximumInterval: Math.max(firstWait, parseDuration(retry.maximumInterval)), // Temporal rejects a shorter one
    },
    timeout: parseDuration(use.timeout ?? block.timeout),
    concurrency,
    rate,
    host: use.host ?? block.host ?? name,
  });
}

const { Retry, RewardManifest: Reward } = pluginSchema.definitions;
const { maximumAttempts, initialInterval, backoffCoefficient, maximumInterval } = Retry.properties;

/** The settings of a manifest without a reward block, which are the schema's defaults. */
export const plainReward: RewardManifest = {
  pure: Reward.properties.pure.default,
  group: Reward.properties.group.default,
  snapshots: Reward.properties.snapshots.default,
  recorded: Reward.properties.recorded.default,
  retry: {
    maximumAttempts: maximumAttempts.default,
    initialInterval: initialInterval.default,
    backoffCoefficient: backoffCoefficient.default,
    maximumInterval: maximumInterval.default,
  },
  timeout: Reward.properties.timeout.default,
};
