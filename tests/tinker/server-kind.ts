import type { Matrices } from "./adapters.ts";
import type { ChainLink } from "./server-records.ts";

/** A training server whose process is killed and stopped. It starts again by itself. */
export interface RunningServer {
  url: string;
  /** The checkpoints that the weights at `path` descend from, oldest first, and itself. */
  chainOf(path: string): ChainLink[];
  /** The adapter of a checkpoint. `folder` is empty or missing. */
  adapterOf(path: string, folder: string): Promise<Matrices>;
  /** How many checkpoints it has saved. */
  saves(): number;
  /** Whether it works on a request for actions. */
  isSampling(): boolean;
  stop(): Promise<void>;
}

/** A published training server. */
export interface ServerKind {
  name: string;
  /** Settings of a pipeline that trains on it. */
  settings: readonly string[];
  /**
   * Whether models of one seed start from equal adapters. If not, runs are comparable only if each has a server that has just started,
   * and loses nothing before its first version is saved.
   */
  isSeeded: boolean;
  start(place: {
    folder: string;
    /** The served model. */
    model: string;
    port: number;
    /** Whether runs sample on it. Then it has batches of one size, so that it compiles little. */
    isSampled: boolean;
    /** A variable of its processes. */
    mark: Record<string, string>;
  }): Promise<RunningServer>;
}
