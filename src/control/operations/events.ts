import { defined } from "../../base/records/defined.ts";
import type { StepRecord } from "../../contracts/generated/step-record.ts";
import type { EvaluationRecord, RunProgress, StageProgress } from "../../contracts/run.ts";
import { type Phase, phaseOf } from "./phase.ts";

/** What a run tells while it is worked on. */
export type RunEvent =
  /** A line for people: what begins, what died and is started again, what is waited for, what can't be read. */
  | { type: "note"; text: string }
  /** The run's Temporal server is up; `ui` is the address of its web pages where it is the run's own. */
  | { type: "server"; address: string; ui?: string }
  /** Where the run is, about once a second; `waiting` counts the trajectories that wait for a person. */
  | { type: "progress"; phase: Phase; progress: RunProgress; waiting: number }
  /** A step has ended. */
  | { type: "step"; record: StepRecord }
  /** An evaluation has ended; of a run that goes on, those before its first step and the last one come again. */
  | { type: "evaluation"; record: EvaluationRecord }
  /** What has been waited for too long, a line each; none when that is over. */
  | { type: "waits"; lines: readonly string[] };

/** The event that says where a run is; `child` is what the step or evaluation under way says of itself. */
export function progressEvent(
  progress: RunProgress,
  child?: StageProgress,
  waiting = 0,
): Extract<RunEvent, { type: "progress" }> {
  return { type: "progress", phase: phaseOf(progress, child), progress, waiting };
}

/** The event that says where the server of a session is. */
export function serverEvent({ address, ui }: { address: string; ui: string | undefined }): RunEvent {
  return defined({ type: "server", address, ui });
}

/** What work on a run is told, and tells. */
export interface Told {
  /** Is told what happens, until the work has ended. What it throws ends the work as `signal` does, and is thrown. */
  onEvent?: ((event: RunEvent) => void) | undefined;
  /**
   * Ends the work: quietly, and all that belongs to it. INTERRUPTED is thrown then; nothing that was finished is lost, and
   * training can go on.
   */
  signal?: AbortSignal | undefined;
}

/** Does `work` with a `tell` that is silent once the signal has aborted, and with a signal that ends it. */
export async function telling<Result>(
  { onEvent = () => {}, signal }: Told,
  work: (told: { tell: (event: RunEvent) => void; signal: AbortSignal }) => Promise<Result>,
): Promise<Result> {
  const failing = new AbortController();
  const ending = signal === undefined ? failing.signal : AbortSignal.any([signal, failing.signal]);
  const thrown: unknown[] = [];
  const tell = (event: RunEvent) => {
    if (ending.aborted) return;
    try {
      onEvent(event);
    } catch (error) {
      thrown.push(error);
      failing.abort();
    }
  };
  try {
    const result = await work({ tell, signal: ending });
    if (thrown.length === 0) return result;
  } catch (error) {
    if (thrown.length === 0) throw error;
  }
  throw thrown[0];
}
