import { duration } from "../../../base/text/format.ts";
import type { StepRecord } from "../../../contracts/generated/step-record.ts";
import type { RunProgress } from "../../../contracts/run.ts";
import type { Phase } from "../../../control/operations/phase.ts";

/** How long the current phase has taken, and may still take at the same speed, in seconds. */
export interface PhaseTime {
  elapsed: number;
  remaining?: number;
}

/** Follows the phases of a run. */
export interface PhaseClock {
  /** Returns the times of the phase at `now` (seconds). */
  see(phase: Phase, now: number): PhaseTime;
}

/** A clock that has seen nothing yet. */
export function phaseClock(): PhaseClock {
  let text: string | undefined;
  let [since, changed, first, last] = [0, 0, 0, 0];
  return {
    see: (phase, now) => {
      if (phase.text !== text || phase.done < last) {
        text = phase.text;
        [since, changed, first, last] = [now, now, phase.done, phase.done];
      }
      if (phase.done > last) [changed, last] = [now, phase.done];
      const elapsed = now - since;
      if (last === first) return { elapsed };
      const each = (changed - since) / (last - first);
      return { elapsed, remaining: each * (phase.of - last) - (now - changed) };
    },
  };
}

/**
 * How many seconds the rest of the run will take, from the last ten steps and the newest evaluation. `waited`: the
 * time since the last end of a step or an evaluation. Undefined before the end of the first step, and when nothing
 * remains.
 */
export function remainingSeconds(
  progress: RunProgress,
  records: readonly StepRecord[],
  waited: number,
): number | undefined {
  const recent = records.slice(-10);
  const last = recent.at(-1);
  if (last === undefined) return undefined;
  const step = recent.reduce((total, record) => total + record.seconds.total, 0) / recent.length;
  const evaluation = progress.evaluations.at(-1)?.seconds ?? 0;
  const steps = Math.max(0, progress.steps - last.step);
  const whole = steps * step + evaluationsLeft(progress, last.step) * evaluation;
  return whole - Math.min(waited, progress.phase === "evaluate" ? evaluation : step);
}

/** The number of evaluations after the first `done` steps. */
function evaluationsLeft({ steps, evaluations, evaluationEvery = 0 }: RunProgress, done: number): number {
  const isDue = (step: number) =>
    step === steps || (evaluationEvery > 0 && step > 0 && step % evaluationEvery === 0);
  let left = isDue(done) && !evaluations.some(({ step }) => step === done) ? 1 : 0;
  for (let step = done + 1; step <= steps; step++) if (isDue(step)) left++;
  return left;
}

/** An estimate in words, such as `about 12 s`; undefined if it is below `least` seconds and therefore useless. */
export function aboutText(seconds: number | undefined, least: number): string | undefined {
  if (seconds === undefined || seconds < least) return undefined;
  return `about ${seconds < 59.5 ? `${Math.round(seconds)} s` : duration(Math.round(seconds))}`;
}
