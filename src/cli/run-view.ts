import type { StepRecord } from "../contracts/generated/step-record.ts";
import type { RunProgress, StageProgress } from "../contracts/run.ts";
import type { RunSummary } from "./progress-text.ts";

/** Where a view writes: a process's stream. A terminal gets the live view, anything else plain lines. */
export type ViewStream = NodeJS.WritableStream & { isTTY?: boolean; columns?: number };

/** Shows a run to a person while it works. */
export interface RunView {
  /**
   * Where the run is; `child` is what the step or evaluation under way says of itself, `waiting` counts the
   * trajectories that wait for a person.
   */
  progress(progress: RunProgress, child?: StageProgress, waiting?: number): void;
  /** What has been waited for too long, a line each: shown as long as it is told so. */
  waits(lines: readonly string[]): void;
  /** A finished step. */
  record(record: StepRecord): void;
  /** A line that stays. */
  note(text: string): void;
  /** The summary; the view ends. */
  end(summary: RunSummary): void;
  /** Ends the view and gives the terminal back, however the run ended. Does nothing the second time. */
  close(): void;
}
