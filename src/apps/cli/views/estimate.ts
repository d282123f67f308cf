import { duration } from "../../../base/text/format.ts";
import type { Phase } from "../../../control/operations/phase.ts";

/** How long the current phase has taken, and may still take at the same speed, in seconds. */
export interface PhaseTime {
  elapsed: number;
  remaining?: number;
  /** For one of the steps or trajectories that the phase counts. */
  each?: number;
}

/** How long the rest of a run will take. */
export interface TimeLeft {
  seconds: number;
  /** No trajectory has called a tool yet, and no earlier run of the pipeline was measured. */
  assumesQuickTools: boolean;
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
      return { elapsed, each, remaining: each * (phase.of - last) - (now - changed) };
    },
  };
}

/** An estimate in words, such as `about 12 s`; undefined if it is below `least` seconds and therefore useless. */
export function aboutText(seconds: number | undefined, least: number): string | undefined {
  if (seconds === undefined || seconds < least) return undefined;
  return `about ${seconds < 59.5 ? `${Math.round(seconds)} s` : duration(Math.round(seconds))}`;
}

/** The rest of a run in words, such as `about 12 s left`; undefined if it is below `least` seconds. */
export function leftText({ seconds, assumesQuickTools }: TimeLeft, least: number): string | undefined {
  const about = aboutText(seconds, least);
  return about && `${about} left${assumesQuickTools ? " if tool calls are quick" : ""}`;
}
