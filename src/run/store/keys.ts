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
import type {
  EvaluationPlan,
  EvaluationRecord,
  RecordedKey,
  RunFile,
  StoreSession,
  WorkflowBuild,
} from "../../contracts/run.ts";
import type { KeptResult } from "../../contracts/session.ts";
import type { TrajectoryPlace } from "../../contracts/trajectory.ts";
import { type Key, keyOf, type Prefix, prefixOf, type TreeKey, treeKeyOf } from "./key.ts";
import type { Row } from "./row.ts";

/** Identifies a trajectory of a run. */
export type TrajectoryName = Pick<TrajectoryPlace, "stage" | "task" | "sample">;

/** The key of a trajectory's turn, counting from 1. */
export function turnKey({ stage, task, sample }: TrajectoryName, turn: number): Key<RecordedTurn> {
  return keyOf("trajectories", stage, task, sample, `turn-${turn}`);
}

/** The key of a turn's call, counting from 0. */
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

/** The finished function calls of a trajectory's agent, in order. */
export function agentCallsRow({ stage, task, sample }: TrajectoryName): Row<KeptResult> {
  return (number) => keyOf("trajectories", stage, task, sample, "agent-calls", number);
}

/**
 * One reward's score of a trajectory, if there are several rewards. It is kept until the trajectory's own record has
 * it.
 */
export function scoreKey({ stage, task, sample }: TrajectoryName, part: string): Key<Score | Unscored> {
  return keyOf("trajectories", stage, task, sample, "scores", part);
}

/** The record of a trajectory that its own rewards scored, kept until its group is scored too. */
export function beforeGroupKey({ stage, task, sample }: TrajectoryName): Key<Trajectory> {
  return keyOf("trajectories", stage, task, sample, "before-group");
}

/** A group reward's scores of a group's members by sample. `first` is the first of them. */
export function groupScoreKey(
  first: TrajectoryName,
  part: string,
): Key<Record<number, GroupScore | Unscored>> {
  const { stage, task, sample } = first;
  return keyOf("trajectories", stage, task, sample, "group-scores", part);
}

/** The record of a scored trajectory. */
export function trajectoryKey({ stage, task, sample }: TrajectoryName): Key<Trajectory> {
  return keyOf("trajectories", stage, task, sample, "trajectory");
}

/** The record that the n-th admission (from 1) of a trajectory was left out. A later admission may retry it; nothing is removed. */
export function leftOutKey({ stage, task, sample }: TrajectoryName, admission: number): Key<Trajectory> {
  return keyOf("trajectories", stage, task, sample, `left-out-${admission}`);
}

/** The owner of the n-th fork stage, from 1. */
export function forkKey(number: number): Key<{ by: string }> {
  return keyOf("forks", number);
}

/** A step's line in `metrics.jsonl`. */
export function recordedStepKey(step: number): Key<StepRecord> {
  return keyOf("steps", step, "recorded");
}

/** Trajectories that were drawn for a step after its commit, and are left out. */
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

/** An evaluation, by its name, which is also its stage. */
export function evaluationKey(name: string): Key<EvaluationRecord> {
  return keyOf("evaluations", name);
}

/** The settings with which `everturn evaluate` began an evaluation. It continues with these. */
export function evaluationPlanKey(name: string): Key<EvaluationPlan> {
  return keyOf("evaluation-plans", name);
}

/** The settings of all evaluations by `everturn evaluate`. */
export function evaluationPlansPrefix(): Prefix {
  return prefixOf("evaluation-plans");
}

/** All evaluations. */
export function evaluationsPrefix(): Prefix {
  return prefixOf("evaluations");
}

/** The address of a run's server, in the run's folder. */
export const runFileKey: Key<RunFile> = keyOf("run");

/** The keys that replaced the one in `run.json` for a run's payloads on the Temporal server, in order. */
export const encryptionRow: Row<RecordedKey> = (number) => keyOf("encryption", number);

/** The processes that have held a run in a store, in order. Only the last one may hold it. */
export const sessionRow: Row<StoreSession> = (number) => keyOf("sessions", number);

/** A holder's sign of life. It puts the record back after another machine has removed it. */
export function sessionSignKey(session: number): Key<true> {
  return keyOf("sessions", session, "sign-of-life");
}

/** That a holder has released the run. */
export function sessionEndKey(session: number): Key<true> {
  return keyOf("sessions", session, "ended");
}

/** The builds of a run's workflow code in a store, in the order in which they became current. */
export const buildRow: Row<WorkflowBuild> = (number) => keyOf("builds", number);

/** The plan that a run was created with, followed by the plan after each change. */
export const planRow: Row<Plan> = (number) => keyOf("plan", number);

/** Policy version 0 as built. It has one part, `policy`, and is never freed. */
export const initialKey: TreeKey<{ policyVersion: number }> = treeKeyOf("initial");

/** The state of the warm start after `steps` steps: parts `policy` and `trainer`. */
export function warmStartKey(steps: number): TreeKey<WarmStartResult> {
  return treeKeyOf("warm-start", steps);
}

/** The commit of a step: its training data and the version that it made, with parts `policy` and `trainer`. */
export function trainedStepKey(step: number): TreeKey<TrainedStep> {
  return treeKeyOf("steps", step, "trained");
}

/** The same for a step on examples. */
export function trainedExamplesKey(step: number): TreeKey<TrainedStep<ExampleMetrics>> {
  return treeKeyOf("steps", step, "trained");
}

/**
 * The reference policy's scores of the n-th slice of a run's pairs, from 0, in the order in which steps first need
 * them: two sums per pair, in nats.
 */
export function referenceScoresKey(slice: number): Key<ReferenceScores> {
  return keyOf("reference-scores", "wanted", slice);
}

/** The workers that took over a trajectory's instance of a tool, in order. */
export function holdersRow({ stage, task, sample }: TrajectoryName, tool: string): Row<InstanceHolder> {
  return (fence) => keyOf("trajectories", stage, task, sample, "holders", tool, fence);
}

/** The portions of a step's computations, which trainers share until the step is committed. */
export function portionsPrefix(step: number): Prefix {
  return prefixOf("steps", step, "portions");
}

/**
 * A portion of a step's computation: its tree, and the claim of the trainer that computes it first. `batch` identifies
 * everything that the step's result depends on.
 */
export function portionKeys(
  step: number,
  batch: string,
  ...[computation, portion]: [computation: string, portion: number]
): { claim: Key<{ by: string }>; result: TreeKey<{ seconds: number }> } {
  const names = ["steps", step, "portions", batch, computation] as const;
  return { claim: keyOf(...names, `${portion}-claim`), result: treeKeyOf(...names, portion) };
}

/** The claim of the trainer that commits the result of a shared step first. */
export function commitClaimKey(step: number, batch: string): Key<{ by: string }> {
  return keyOf("steps", step, "portions", batch, "commit-claim");
}

/** All records of a step itself. */
export function stepPrefix(step: number): Prefix {
  return prefixOf("steps", step);
}

/** The trajectories of a step in one file. */
export function foldedKey(step: number): TreeKey<FoldedStep> {
  return treeKeyOf("steps", step, "folded");
}

/** The names of the steps and evaluations that a run's tracker has received, by the tracker's index in the plan. */
export function trackedRow(tracker: number): Row<{ name: string }> {
  return (number) => keyOf("trackers", tracker, number);
}

/**
 * Records that the single records of a step's trajectories were removed because its file has them, and their number.
 */
export function freedRecordsKey(step: number): Key<{ records: number }> {
  return keyOf("steps", step, "freed-records");
}

/** Records that the training server no longer has the checkpoint of a tree whose files were freed. */
export function deletedCheckpointKey({ tree }: TreeKey<unknown>): Key<{ checkpoint: string }> {
  return keyOf(...tree.split("/"), "deleted-checkpoint");
}

/** All single records of a trajectory. */
export function trajectoryPrefix({ stage, task, sample }: TrajectoryName): Prefix {
  return prefixOf("trajectories", stage, task, sample);
}
