import { EverturnError, isEverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import type { ErrorCode } from "../../base/errors/table.ts";
import type { Task } from "../../contracts/generated/task.ts";
import type { ResolvedReward } from "../../contracts/plan.ts";
import type { Score, Unscored } from "../../contracts/reward.ts";
import { isOfGroups, taskRewards } from "../../plugin/registry/task-rewards.ts";
import type { PartScore } from "./added-scores.ts";

/** A reward of a plan, with its place there. */
export interface NumberedReward extends ResolvedReward {
  index: number;
}

type LookAgain = () => Promise<void>;

interface Asking {
  /** Has a reward score the trajectory, unless `lookAgain`, if it is given, finds that another attempt did. */
  ask(reward: NumberedReward, lookAgain?: LookAgain): Promise<Score | Unscored>;
  /** What is recorded of a part; else what `ask` says, recorded. */
  recorded(part: string, ask: (lookAgain: LookAgain) => Promise<Score | Unscored>): Promise<Score | Unscored>;
}

/**
 * What the rewards of a plan that score the task, those of groups apart, say of a trajectory, asked at once. Of several, each is recorded as it is
 * had, so that who asks again asks for those that are missing alone. One of weight 0 that can't be had is missing, and
 * nothing else. Throws what asking throws, what no retry mends first; REWARD_MISSING.
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

/** What says that a score can't be had, once all attempts are spent. */
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
