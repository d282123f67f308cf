import { defined } from "../../base/records/defined.ts";
import type { Earned } from "../../contracts/activities.ts";
import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import type { Plan } from "../../contracts/plan.ts";
import type { TrajectorySummary } from "../../contracts/rollout.ts";
import type { RewardRange, TrajectoryResult } from "../../contracts/trajectory.ts";
import { cut } from "./cut.ts";
import { policyCalls } from "./policy-calls.ts";

/** Longer reasons are cut, because one signal carries hundreds of results. The trajectory's record has all of them. */
const reasonBytes = 1_000;

/** The part of a trajectory's result that a step keeps. */
export function resultSummary(result: TrajectoryResult): TrajectorySummary {
  const { task: _task, turns: _turns, turnCount, failure, mistake, ...kept } = result;
  return defined({
    ...kept,
    turns: turnCount,
    failure: failure === undefined ? undefined : cut(failure, reasonBytes),
    mistake: mistake && { ...mistake, message: cut(mistake.message, 2 * reasonBytes) },
  });
}

/** The facts about a trajectory that its record lacks. */
interface Generated {
  /** The version that counts for a trajectory without turns. */
  policyVersion: number;
  /** How long it took to generate all turns, in seconds. */
  seconds: number;
}

/** The same part, from the trajectory's record. */
export function recordSummary(
  plan: Plan,
  record: Trajectory,
  { policyVersion, seconds }: Generated,
): TrajectorySummary {
  const { id, outcome, reward, success, head, tokens, turns, failure } = record;
  const versions = record.policyVersions.length > 0 ? record.policyVersions : [policyVersion];
  const calls = turns.flatMap(policyCalls);
  const comparesTurns = plan.trainer.comparesTurns === true && outcome !== "left-out";
  return defined({
    trajectory: id,
    outcome,
    reward,
    turnRewards: comparesTurns ? rewardRange(record) : undefined,
    success,
    head,
    tokens,
    turns: turns.length,
    policyVersion: Math.min(...versions),
    newestPolicyVersion: Math.max(...versions),
    generationSeconds: seconds,
    toolCalls: calls.length,
    validCalls: calls.filter(({ valid }) => valid).length,
    failure,
  });
}

/** A trajectory's score, from its record. */
export function trajectoryScore(plan: Plan, record: Trajectory): Earned {
  const { reward, success } = record;
  if (plan.trainer.comparesTurns !== true) return { reward, success };
  return { reward, success, turnRewards: rewardRange(record) };
}

/** The summary of a trajectory that counts for nothing, whatever its record contains by now. */
export function leftOutSummary(trajectory: string, failure: string): TrajectorySummary {
  return {
    trajectory,
    outcome: "left-out",
    failure,
    reward: 0,
    success: false,
    head: null,
    tokens: { prompt: 0, action: 0, observation: 0 },
    turns: 0,
    policyVersion: 0,
    newestPolicyVersion: 0,
    generationSeconds: 0,
    toolCalls: 0,
    validCalls: 0,
  };
}

/** The rewards that a trajectory's turns earned. The last turn gets everything that did not come from tools. */
function rewardRange({
  reward,
  turns,
  turnRewards = turns.map(() => 0),
}: Pick<Trajectory, "reward" | "turns" | "turnRewards">): RewardRange {
  const before = turnRewards.slice(0, -1);
  const last = before.reduce((rest, earned) => rest - earned, reward);
  const all = [...before, last];
  const [least, most] = [Math.min, Math.max].map((of) => all.reduce((found, earned) => of(found, earned)));
  return { least: least ?? reward, most: most ?? reward };
}
