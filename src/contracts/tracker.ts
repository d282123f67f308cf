import type { JsonObject } from "./json.ts";

/** A run, as trackers receive it. */
export interface TrackedRun {
  /** Its id, which is its name. */
  run: string;
  /** The pipeline's name. */
  pipeline: string;
  /** ISO 8601. */
  createdAt: string;
  /** The absolute path of its folder. */
  folder: string;
  /** The run's settings, with a pipeline's keys. */
  settings: JsonObject;
  /** How many entries the tracker has already received, including from a command that was killed. */
  logged: number;
}

/** The distribution of a number over trajectories, in bins. */
export interface TrackedHistogram {
  /** The limits of the bins in increasing order, one more than there are bins. */
  limits: number[];
  /** How many values are in each bin. */
  counts: number[];
  /** The sum of the values, and of their squares. */
  sum: number;
  sumOfSquares: number;
}

/** A table of examples. */
export interface TrackedTable {
  columns: string[];
  /** The values in the order of the columns. */
  rows: (string | number | boolean)[][];
}

/** The results of a step or an evaluation. */
export interface TrackedEntry {
  /** The entry's number in the run, from 0. After a kill, the last entries may be sent again with the same numbers. */
  number: number;
  /** The step that it belongs to; 0 before the first. */
  step: number;
  /** When it is sent, in milliseconds since 1970. */
  at: number;
  /** Finite numbers by name: `train/…` for steps, `evaluation/…` for evaluations. */
  values: Record<string, number>;
  /**
   * Distributions over the trajectories by name: `train/rewards`, `train/actionTokens`, and the same with `evaluation/`.
   * Absent for steps on examples.
   */
  histograms?: Record<string, TrackedHistogram>;
  /**
   * A few trajectories, from the lowest to the highest reward: `train/samples` or `evaluation/samples`, with the columns
   * trajectory, task, reward, solved, outcome, prompt, answer and parts. Absent for steps on examples.
   */
  tables?: Record<string, TrackedTable>;
}

/** How work on a run ended. An interrupted or failed run can be resumed. */
export type TrackedEnding = "completed" | "interrupted" | "failed";

/** An open tracker of a run. Everturn reports its errors and retries while training continues. */
export interface TrackerSession {
  /** Receives one entry at a time, in order. `signal` aborts when Everturn stops waiting. */
  log(entry: TrackedEntry, signal: AbortSignal): Promise<void> | void;
  /** Closes the session. Nothing follows. */
  close(ending: TrackedEnding, signal: AbortSignal): Promise<void> | void;
}

/** The default export of a tracker plugin: it receives the results of steps and evaluations as they end. */
export interface TrackerPlugin<Config = JsonObject> {
  /** Opens the run at the tracker, or reopens it if it was sent before. Secrets come from the environment. */
  open(config: Config, run: TrackedRun, signal: AbortSignal): Promise<TrackerSession> | TrackerSession;
}
