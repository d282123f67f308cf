import { isEverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { defined } from "../../base/records/defined.ts";
import type { Task } from "../../contracts/generated/task.ts";
import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import type { ResolvedReward } from "../../contracts/plan.ts";
import type { GroupScore, Unscored } from "../../contracts/reward.ts";
import { isOfGroups, taskRewards } from "../../plugin/registry/task-rewards.ts";
import { addedScores } from "./added-scores.ts";
import { lostScore, type NumberedReward } from "./score-parts.ts";

/** A group reward's scores of the members that it compared, by sample, or the reason why it has none. */
export interface GroupPart {
  reward: Pick<ResolvedReward, "name" | "part" | "weight">;
  scores: Record<number, GroupScore | Unscored>;
  missing?: string;
}

/** Whether any reward compares the trajectories of a group. */
export function compareGroups(rewards: readonly ResolvedReward[]): boolean {
  return rewards.some(isOfGroups);
}

/**
 * Asks the group rewards that score the task, all at once. Throws the errors of `ask`, unless an error means
 * that no score is available.
 */
export async function scoreGroupParts(
  rewards: readonly ResolvedReward[],
  task: Task,
  ask: (reward: NumberedReward) => Promise<GroupPart["scores"]>,
): Promise<GroupPart[]> {
  const numbered = rewards.map((reward, index): NumberedReward => ({ ...reward, index }));
  return Promise.all(
    taskRewards(numbered.filter(isOfGroups), task).map(async (reward): Promise<GroupPart> => {
      try {
        return { reward, scores: await ask(reward) };
      } catch (error) {
        if (!isEverturnError(error) || !lostScore.includes(error.code)) throw error;
        return { reward, scores: {}, missing: messageOf(error) };
      }
    }),
  );
}

/**
 * Adds the scores of group rewards to a trajectory's record. The trajectory is left out if a weighted reward
 * has no score.
 */
export function withGroupParts(own: Trajectory, parts: readonly GroupPart[]): Trajectory {
  const said = parts.map(({ reward, scores, missing = "its group was compared without it" }) => ({
    part: reward,
    score: scores[own.sample] ?? { missing },
  }));
  for (const { part, score } of said) {
    if (part.weight === 0 || !("missing" in score)) continue;
    const failure = `${part.part ?? part.name}: ${score.missing}`;
    return { ...own, outcome: "left-out", reward: 0, success: false, failure };
  }
  const { success } = own;
  const { reward: added, metrics } = addedScores(
    said.map(({ part, score }) => ({ part, score: "missing" in score ? score : { ...score, success } })),
  );
  return defined({
    ...own,
    reward: own.reward + added,
    metrics: metrics === undefined ? own.metrics : { ...own.metrics, ...metrics },
  });
}
