import type { Trajectory } from "./generated/trajectory.ts";
import type { TrajectoryPlace } from "./trajectory.ts";

/** The trajectories in a step's file, as the file's record lists them next to its digest. */
export interface FoldedStep {
  trajectories: FoldedEntry[];
}

/** A trajectory of a step's file, and where its rows are. */
export interface FoldedEntry extends Pick<TrajectoryPlace, "stage" | "task" | "sample">, FinishedTrajectory {
  place: RowsPlace;
}

/** The properties of an ended trajectory that lists and checks need. It is small although its turns may be many. */
export interface FinishedTrajectory
  extends Pick<
    Trajectory,
    "outcome" | "reward" | "success" | "head" | "tokens" | "policyVersions" | "seconds"
  > {
  failure?: string;
  /** The parts of the reward, and the metrics of rewards and tools. Absent if there are none, and in runs of 0.3. */
  metrics?: Record<string, number>;
  toolCalls: number;
  /** The tools that it called. */
  tools: string[];
  /** The SHA-256 of all bytes that its observations refer to; absent if there are none. */
  bytes?: string[];
}

/** Where a trajectory's rows are in a file: the row group, the first row in it, and the number of rows. */
export interface RowsPlace {
  part: number;
  from: number;
  rows: number;
}
