import { dirname, resolve } from "node:path";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { ResolvedReward } from "../../contracts/plan.ts";
import { loadRewards, rewardDocument } from "../../plan/pipeline/load-rewards.ts";
import { readExtended } from "../../plan/pipeline/read/read-extended.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";

/** Specifies the rewards for rescoring. */
export interface WantedRewards {
  /** YAML, as in a pipeline. */
  reward?: string | undefined;
  /** The file of a pipeline. */
  pipeline?: string | undefined;
  plugins?: readonly string[] | undefined;
}

/**
 * The given rewards, with paths relative to the current folder; or those of a pipeline; or else the run's own.
 * Throws WRONG_CONFIGURATION, PIPELINE_NOT_FOUND, OVERRIDE_INVALID, and COMMAND_INVALID if both are given.
 */
export async function wantedRewards(
  { plan }: Pick<OpenRun, "plan">,
  { reward, pipeline, plugins = [] }: WantedRewards,
): Promise<readonly ResolvedReward[]> {
  if (reward !== undefined && pipeline !== undefined) {
    throw new EverturnError("COMMAND_INVALID", { reason: "a reward and a pipeline can't be combined" });
  }
  if (reward !== undefined) return loadRewards(rewardDocument(reward), process.cwd(), plugins);
  if (pipeline === undefined) return plan.rewards;
  const file = resolve(pipeline);
  return loadRewards(readExtended(file), dirname(file), plugins);
}
