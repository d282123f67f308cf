import type { StepRecord } from "../contracts/generated/step-record.ts";
import type { RecordedTurn } from "../contracts/recorded-turn.ts";
import type { TrajectoryPlace } from "../contracts/trajectory.ts";
import { type Key, keyOf } from "./key.ts";

/** Which trajectory of a run. */
export type TrajectoryName = Pick<TrajectoryPlace, "stage" | "task" | "sample">;

/** The turns of a trajectory count from 1. */
export function turnKey({ stage, task, sample }: TrajectoryName, turn: number): Key<RecordedTurn> {
  return keyOf("trajectories", stage, task, sample, `turn-${turn}`);
}

/** Who took the stage of the so-many-th forks, from 1. */
export function forkKey(number: number): Key<{ by: string }> {
  return keyOf("forks", number);
}

/** The line of `metrics.jsonl` that a step has. */
export function recordedStepKey(step: number): Key<StepRecord> {
  return keyOf("steps", step, "recorded");
}
