import type { JsonObject } from "./json.ts";

/** A run, as trackers are told of it. */
export interface TrackedRun {
  /** Its id, which is its name. */
  run: string;
  /** The pipeline's name. */
  pipeline: string;
  /** ISO 8601. */
  createdAt: string;
  /** The absolute path of its folder. */
  folder: string;
  /** What the run is made of, in a pipeline's words: its settings. */
  settings: JsonObject;
  /** How many entries the tracker has been told before, also by a command that was killed. */
  logged: number;
}

/** What a step or an evaluation measured. */
export interface TrackedEntry {
  /** Counts the run's entries, from 0. A command that is killed may tell the last ones again, under the same numbers. */
  number: number;
  /** The step that it belongs to; 0 before the first. */
  step: number;
  /** When it is told, milliseconds since 1970. */
  at: number;
  /** By name: `train/…` of steps, `evaluation/…` of evaluations; finite numbers. */
  values: Record<string, number>;
}

/** How work on a run ended: it is done, or it can go on. */
export type TrackedEnding = "completed" | "interrupted" | "failed";

/** An open tracker of a run. What it throws is told, and tried again; training goes on meanwhile. */
export interface TrackerSession {
  /** Entries come in order, one after the other. `signal` aborts when they are no longer waited for. */
  log(entry: TrackedEntry, signal: AbortSignal): Promise<void> | void;
  /** Nothing comes after it. */
  close(ending: TrackedEnding, signal: AbortSignal): Promise<void> | void;
}

/** The default export of a tracker plugin: it is told what steps and evaluations measured, as they end. */
export interface TrackerPlugin<Config = JsonObject> {
  /** Opens the run there, a new one or the one that it was told of before. Secrets come from the environment. */
  open(config: Config, run: TrackedRun, signal: AbortSignal): Promise<TrackerSession> | TrackerSession;
}
