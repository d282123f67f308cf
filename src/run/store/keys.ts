import type { WarmStartResult } from "../../contracts/activities.ts";
import type { FoldedStep } from "../../contracts/folded-step.ts";
import type { StepRecord } from "../../contracts/generated/step-record.ts";
import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import type { InstanceHolder } from "../../contracts/instance-holder.ts";
import type {
  ExampleMetrics,
  LeftOut,
  ReferenceScores,
  Reservation,
  TrainedStep,
} from "../../contracts/ledger.ts";
import type { Plan } from "../../contracts/plan.ts";
import type { Failure, RecordedCall } from "../../contracts/recorded-call.ts";
import type { RecordedTurn } from "../../contracts/recorded-turn.ts";
import type { GroupScore, Score, Unscored } from "../../contracts/reward.ts";
import type { EvaluationPlan, EvaluationRecord, RunFile } from "../../contracts/run.ts";
import type { KeptResult } from "../../contracts/session.ts";
import type { TrajectoryPlace } from "../../contracts/trajectory.ts";
import { type Key, keyOf, type Prefix, prefixOf, type TreeKey, treeKeyOf } from "./key.ts";
import type { Row } from "./row.ts";

/** Which trajectory of a run. */
export type TrajectoryName = Pick<TrajectoryPlace, "stage" | "task" | "sample">;

/** The turns of a trajectory count from 1. */
export function turnKey({ stage, task, sample }: TrajectoryName, turn: number): Key<RecordedTurn> {
  return keyOf("trajectories", stage, task, sample, `turn-${turn}`);
}

/** The calls of a turn count from 0. */
export function callKey(
  { stage, task, sample }: TrajectoryName,
  turn: number,
  call: number,
): Key<RecordedCall> {
  return keyOf("trajectories", stage, task, sample, `turn-${turn}-call-${call}`);
}

/** The n-th failed execution (from 1) of a call of a trajectory, or of its score. */
export function failureKey(
  { stage, task, sample }: TrajectoryName,
  of: { turn: number; call: number } | "score",
  failure: number,
): Key<Failure> {
  const name = of === "score" ? of : `${of.turn}-${of.call}`;
  return keyOf("trajectories", stage, task, sample, "calls", name, `failure-${failure}`);
}

/** The calls of functions of a trajectory's agent that have ended, one after the other. */
export function agentCallsRow({ stage, task, sample }: TrajectoryName): Row<KeptResult> {
  return (number) => keyOf("trajectories", stage, task, sample, "agent-calls", number);
}

/** What one of several rewards said of a trajectory, kept until the trajectory's own record has it. */
export function scoreKey({ stage, task, sample }: TrajectoryName, part: string): Key<Score | Unscored> {
  return keyOf("trajectories", stage, task, sample, "scores", part);
}

/** The record of a trajectory that its own rewards scored, until its group was, too. */
export function beforeGroupKey({ stage, task, sample }: TrajectoryName): Key<Trajectory> {
  return keyOf("trajectories", stage, task, sample, "before-group");
}

/** What a reward of groups said of the members of a group, by their samples; `first` is the first of them. */
export function groupScoreKey(
  first: TrajectoryName,
  part: string,
): Key<Record<number, GroupScore | Unscored>> {
  const { stage, task, sample } = first;
  return keyOf("trajectories", stage, task, sample, "group-scores", part);
}

/** The record of a trajectory that was scored. */
export function trajectoryKey({ stage, task, sample }: TrajectoryName): Key<Trajectory> {
  return keyOf("trajectories", stage, task, sample, "trajectory");
}

/** The record that the n-th admission (from 1) of a trajectory was left out. A later admission may retry it; nothing is removed. */
export function leftOutKey({ stage, task, sample }: TrajectoryName, admission: number): Key<Trajectory> {
  return keyOf("trajectories", stage, task, sample, `left-out-${admission}`);
}

/** Who took the stage of the so-many-th forks, from 1. */
export function forkKey(number: number): Key<{ by: string }> {
  return keyOf("forks", number);
}

/** The line of `metrics.jsonl` that a step has. */
export function recordedStepKey(step: number): Key<StepRecord> {
  return keyOf("steps", step, "recorded");
}

/** What was drawn for a step after it had been committed, and is left out. */
export function lateRow(step: number): Row<LeftOut[]> {
  return (number) => keyOf("steps", step, `late-${number}`);
}

/** The reservations of a stage. */
export function reservationRow(stage: string): Row<Reservation> {
  return (number) => keyOf("ledger", stage, number);
}

/** All reservations. */
export function reservationsPrefix(): Prefix {
  return prefixOf("ledger");
}

/** An evaluation, by the name that is its stage. */
export function evaluationKey(name: string): Key<EvaluationRecord> {
  return keyOf("evaluations", name);
}

/** What an evaluation of `everturn evaluate` was asked for when it began: it goes on with that. */
export function evaluationPlanKey(name: string): Key<EvaluationPlan> {
  return keyOf("evaluation-plans", name);
}

/** All evaluations. */
export function evaluationsPrefix(): Prefix {
  return prefixOf("evaluations");
}

/** Where a run's server is, in its folder. */
export const runFileKey: Key<RunFile> = keyOf("run");

/** The plan that a run was made with, and the one after each change of it. */
export const planRow: Row<Plan> = (number) => keyOf("plan", number);

/** Policy version 0, as it was built. It has a part `policy`, and is never freed. */
export const initialKey: TreeKey<{ policyVersion: number }> = treeKeyOf("initial");

/** What the warm start had reached after so many steps: parts `policy` and `trainer`. */
export function warmStartKey(steps: number): TreeKey<WarmStartResult> {
  return treeKeyOf("warm-start", steps);
}

/** The commit of a step: what it trained on, with the version that it made, parts `policy` and `trainer`. */
export function trainedStepKey(step: number): TreeKey<TrainedStep> {
  return treeKeyOf("steps", step, "trained");
}

/** The same of a step on examples. */
export function trainedExamplesKey(step: number): TreeKey<TrainedStep<ExampleMetrics>> {
  return treeKeyOf("steps", step, "trained");
}

/** What the reference says of the so-many-th slice of a run's pairs, from 0, as steps first want them: a pair of sums each, in nats. */
export function referenceScoresKey(slice: number): Key<ReferenceScores> {
  return keyOf("reference-scores", "wanted", slice);
}

/** The workers that took the instance of a tool for a trajectory, one after the other. */
export function holdersRow({ stage, task, sample }: TrajectoryName, tool: string): Row<InstanceHolder> {
  return (fence) => keyOf("trajectories", stage, task, sample, "holders", tool, fence);
}

/** All that is kept of a step itself. */
export function stepPrefix(step: number): Prefix {
  return prefixOf("steps", step);
}

/** The trajectories of a step in one file. */
export function foldedKey(step: number): TreeKey<FoldedStep> {
  return treeKeyOf("steps", step, "folded");
}

/** What a tracker of a run has been told, by its place in the plan: names of steps and evaluations. */
export function trackedRow(tracker: number): Row<{ name: string }> {
  return (number) => keyOf("trackers", tracker, number);
}

/** That the single records of a step's trajectories were removed, which are in its file; how many there were. */
export function freedRecordsKey(step: number): Key<{ records: number }> {
  return keyOf("steps", step, "freed-records");
}

/** All records of a trajectory, one by one. */
export function trajectoryPrefix({ stage, task, sample }: TrajectoryName): Prefix {
  return prefixOf("trajectories", stage, task, sample);
}
