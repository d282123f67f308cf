import type { Trajectory } from "./generated/trajectory.ts";
import type { TrajectoryPlace } from "./trajectory.ts";

/** What the record of a step's file says beside its digest: which trajectories are in it. */
export interface FoldedStep {
  trajectories: FoldedEntry[];
}

/** A trajectory of a step's file, and where its rows are. */
export interface FoldedEntry extends Pick<TrajectoryPlace, "stage" | "task" | "sample">, FinishedTrajectory {
  place: RowsPlace;
}

/** What lists and checks need of a trajectory that has ended; its turns may be many. */
export interface FinishedTrajectory
  extends Pick<
    Trajectory,
    "outcome" | "reward" | "success" | "head" | "tokens" | "policyVersions" | "seconds"
  > {
  failure?: string;
  toolCalls: number;
  /** The tools that it called. */
  tools: string[];
  /** The SHA-256 of all bytes that its observations refer to; absent if there are none. */
  bytes?: string[];
}

/** Where the rows of a trajectory are in a file: which part of it (a row group), from which row of that on, how many. */
export interface RowsPlace {
  part: number;
  from: number;
  rows: number;
}
