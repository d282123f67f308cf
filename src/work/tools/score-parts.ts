import { EverturnError, isEverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import type { ErrorCode } from "../../base/errors/table.ts";
import type { Task } from "../../contracts/generated/task.ts";
import type { ResolvedReward } from "../../contracts/plan.ts";
import type { Score, Unscored } from "../../contracts/reward.ts";
import { isOfGroups, taskRewards } from "../../plugin/registry/task-rewards.ts";
import type { PartScore } from "./added-scores.ts";

/** A reward of a plan, with its index in the plan. */
export interface NumberedReward extends ResolvedReward {
  index: number;
}

type LookAgain = () => Promise<void>;

interface Asking {
  /** Lets a reward score the trajectory, unless `lookAgain` is given and finds another attempt's score. */
  ask(reward: NumberedReward, lookAgain?: LookAgain): Promise<Score | Unscored>;
  /** Returns a part's recorded score, or records the result of `ask`. */
  recorded(part: string, ask: (lookAgain: LookAgain) => Promise<Score | Unscored>): Promise<Score | Unscored>;
}

/**
 * Scores a trajectory by the rewards of a plan that score the task, all at once, without group rewards. With
 * several rewards, each score is recorded as it arrives, so that a later attempt asks only for the missing
 * ones. A reward of weight 0 that fails is only marked as missing. Throws REWARD_MISSING and the errors of
 * `ask`, those that no retry fixes first.
 */
export async function scoreParts(
  rewards: readonly ResolvedReward[],
  task: Task,
  { ask, recorded }: Asking,
): Promise<PartScore[]> {
  const numbered = rewards.map((reward, index): NumberedReward => ({ ...reward, index }));
  const own = taskRewards(numbered, task).filter((reward) => !isOfGroups(reward));
  const settled = await Promise.allSettled(
    own.map(async (reward): Promise<PartScore> => {
      const had = (lookAgain?: LookAgain) => scoreOf(reward, () => ask(reward, lookAgain));
      const { part } = reward;
      const score = part === undefined || own.length === 1 ? await had() : await recorded(part, had);
      return { part: reward, score };
    }),
  );
  const failed = settled.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  if (failed.length > 0)
    throw failed.find((error) => isEverturnError(error) && !error.retryable) ?? failed[0];
  return settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}

/** The errors that mean that no score is available after all attempts. */
export const lostScore: readonly ErrorCode[] = ["REWARD_GAVE_UP", "REWARD_MISSING", "TOOL_HOST_DOWN"];

async function scoreOf(
  { name, part, weight }: ResolvedReward,
  ask: () => Promise<Score | Unscored>,
): Promise<Score | Unscored> {
  try {
    const score = await ask();
    if (!("missing" in score) || weight === 0) return score;
    const reason = score.missing.replace(/\.$/, "");
    throw new EverturnError("REWARD_MISSING", { reward: part ?? name, reason });
  } catch (error) {
    if (weight !== 0 || !isEverturnError(error) || !lostScore.includes(error.code)) throw error;
    return { missing: messageOf(error) };
  }
}
