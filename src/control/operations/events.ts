import { defined } from "../../base/records/defined.ts";
import type { StepRecord } from "../../contracts/generated/step-record.ts";
import type { Plan } from "../../contracts/plan.ts";
import type { EvaluationRecord, RunProgress, StageProgress } from "../../contracts/run.ts";
import type { Diagnosis } from "../../results/diagnosis/diagnose.ts";
import type { Past } from "./past.ts";
import { type Phase, phaseOf } from "./phase.ts";

/** An event of the work on a run. */
export type RunEvent =
  /**
   * A line for people: something begins, a process died and restarts, the run waits for something, or a record is
   * unreadable.
   */
  | { type: "note"; text: string }
  /** The run was opened, with this plan. `past` has the results that it already had. */
  | { type: "opened"; plan: Plan; past: Past }
  /** The run's Temporal server is up. `ui` is the address of its web pages if the run has its own server. */
  | { type: "server"; address: string; ui?: string }
  /** The run's progress, about once a second. `waiting` counts the trajectories that wait for a person. */
  | { type: "progress"; phase: Phase; progress: RunProgress; waiting: number }
  /** A step has ended. */
  | { type: "step"; record: StepRecord }
  /** An evaluation has ended. */
  | { type: "evaluation"; record: EvaluationRecord }
  /** A condition in which the run does not learn holds for the first time since this command began. */
  | { type: "diagnosis"; diagnosis: Diagnosis }
  /** Lines about everything that the run has waited for too long; empty when that is over. */
  | { type: "waits"; lines: readonly string[] };

/** The event about a run's progress. `child` is the progress of the current step or evaluation. */
export function progressEvent(
  progress: RunProgress,
  child?: StageProgress,
  waiting = 0,
): Extract<RunEvent, { type: "progress" }> {
  return { type: "progress", phase: phaseOf(progress, child), progress, waiting };
}

/** The event with the addresses of a run's server. */
export function serverEvent({ address, ui }: { address: string; ui: string | undefined }): RunEvent {
  return defined({ type: "server", address, ui });
}

/** A listener for work on a run, and a signal that ends it. */
export interface Told {
  /**
   * Receives events until the work has ended. An error that it throws ends the work like `signal`, and is thrown.
   */
  onEvent?: ((event: RunEvent) => void) | undefined;
  /**
   * Ends the work and everything that belongs to it quietly, and throws INTERRUPTED. Finished work is not lost, and
   * training can continue.
   */
  signal?: AbortSignal | undefined;
}

/** Runs `work` with a `tell` that is silent once the signal has aborted, and with a signal that ends the work. */
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
