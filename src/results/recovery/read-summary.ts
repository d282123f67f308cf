import { defined } from "../../base/records/defined.ts";
import type { Earned } from "../../contracts/activities.ts";
import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import type { TrajectorySummary } from "../../contracts/rollout.ts";
import type { RewardRange } from "../../contracts/trajectory.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { policyCalls } from "../../run/projections/policy-calls.ts";
import { type TrajectoryName, turnKey } from "../../run/store/keys.ts";
import { readTrajectoryRecord } from "../../run/trajectory/trajectory-files.ts";
import { trajectoryOf } from "../../run/trajectory/trajectory-of.ts";

/** A run, as far as what is read of its trajectories. */
export interface SummarizedRun {
  plan: OpenRun["plan"];
  store: Pick<OpenRun["store"], "read">;
}

/** What a step keeps of a trajectory that has ended, by its record. One that was terminated may have none. */
export async function readSummary(
  run: SummarizedRun,
  trajectory: string,
  policyVersion: number,
): Promise<TrajectorySummary> {
  const record = await readTrajectoryRecord(run.store, trajectoryOf(trajectory));
  return record === undefined
    ? leftOutSummary(trajectory, "terminated")
    : summaryOf(run, policyVersion, record);
}

/** The same of a record; `from` is the version of one without a turn. */
export async function summaryOf(
  run: SummarizedRun,
  from: number,
  record: Trajectory,
): Promise<TrajectorySummary> {
  const { id, outcome, reward, success, head, tokens, turns, failure } = record;
  const versions = record.policyVersions.length > 0 ? record.policyVersions : [from];
  const calls = turns.flatMap(policyCalls);
  const generationSeconds = await secondsOf(run, trajectoryOf(id), turns.length);
  const comparesTurns = run.plan.trainer.comparesTurns === true && outcome !== "left-out";
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
    generationSeconds,
    toolCalls: calls.length,
    validCalls: calls.filter(({ valid }) => valid).length,
    failure,
  });
}

/** How long the first `turns` turns took to generate. */
async function secondsOf({ store }: SummarizedRun, place: TrajectoryName, turns: number): Promise<number> {
  let total = 0;
  for (let turn = 1; turn <= turns; turn++) total += (await store.read(turnKey(place, turn)))?.seconds ?? 0;
  return total;
}

/** A trajectory's score, by its record. */
export function trajectoryScore(plan: OpenRun["plan"], record: Trajectory): Earned {
  const { reward, success } = record;
  if (plan.trainer.comparesTurns !== true) return { reward, success };
  return { reward, success, turnRewards: rewardRange(record) };
}

/** Of a trajectory that counts for nothing, whatever its record says by now. */
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

/** What the turns of a trajectory earned, the last of them all that no tool gave. */
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
