import { alike, isTrouble, type Wait, waitLine } from "../temporal/waits.ts";

/** How long a wait must last before it is reported, in ms: one due to a failure, and one for work that takes long. */
export const patience = { trouble: 4000, slow: 7000 };

/** A wait is reported again when it has lasted ten times this long, a hundred times, and so on, in ms. */
const firstTime = 10_000;

/** The least time between two notes about one wait whose reasons keep changing, in ms. */
const betweenReasons = 30_000;

/** How long a trouble must be absent before it is reported as over, in ms. */
const calm = 5000;

/** A trouble that was reported. */
interface Told {
  since: number;
  attempts: number;
  time: number;
  reasons: Set<string>;
  at: number;
  /** When it was last seen. */
  seen: number;
  wait: Wait;
}

/** Selects the waits that are worth reporting. */
export interface WaitNotes {
  /**
   * Receives the waits at `now`. `isStill`: nothing has moved for so long that slow work is worth reporting too.
   * Returns lines to report once (`notes`), lines to show for as long as they apply (`lines`), whether a reported
   * trouble is not over yet, and when the next wait will have lasted long enough (`nextAt`; infinite if there is none).
   */
  see(
    waits: readonly Wait[],
    isStill: boolean,
    now: number,
  ): { notes: string[]; lines: string[]; isTroubled: boolean; nextAt: number };
}

/**
 * Reports each wait once when it appears, again when its reason or the order of magnitude of its attempts or time
 * changes, and when a trouble is over. Slow work is reported when it takes ten times as long as ever before.
 */
export function waitNotes(): WaitNotes {
  const troubles = new Map<string, Told>();
  const longest = new Map<string, number>();

  function tell(wait: Wait, now: number): boolean {
    const key = keyOf(wait);
    const time = magnitude((now - wait.since) / firstTime);
    if (!isTrouble(wait)) {
      if (time <= (longest.get(key) ?? -1)) return false;
      longest.set(key, time);
      return true;
    }
    const attempts = magnitude(wait.attempt);
    const reason = alike(wait.reason ?? "");
    const told = troubles.get(key);
    if (told === undefined) {
      const { since } = wait;
      troubles.set(key, { since, attempts, time, reasons: new Set([reason]), at: now, seen: now, wait });
      return true;
    }
    const isNewReason = !told.reasons.has(reason) && now - told.at >= betweenReasons;
    const isLarger = attempts > told.attempts || time > told.time;
    Object.assign(told, { seen: now, wait, time: Math.max(told.time, time) });
    told.attempts = Math.max(told.attempts, attempts);
    if (!isNewReason && !isLarger) return false;
    told.reasons.add(reason);
    told.at = now;
    return true;
  }

  function over(now: number): string[] {
    const gone = [...troubles].filter(([, { seen }]) => now - seen >= calm);
    for (const [key] of gone) troubles.delete(key);
    return gone.map(([, { wait, since, seen }]) => {
      const seconds = Math.round((seen - since) / 1000);
      return `${wait.what} (${wait.role}) continued after a wait of ${seconds} s`;
    });
  }

  return {
    see: (waits, isStill, now) => {
      const old = waits.filter((wait) => now >= dueAt(wait) && (isTrouble(wait) || isStill));
      const notes = old.filter((wait) => tell(wait, now)).map((wait) => waitLine(wait, now));
      notes.push(...over(now));
      const lines = old.map((wait) => waitLine(wait, now));
      const later = waits.map(dueAt).filter((due) => due > now);
      return { notes, lines, isTroubled: troubles.size > 0, nextAt: Math.min(...later) };
    },
  };
}

/** When a wait has lasted long enough to be reported. */
function dueAt(wait: Wait): number {
  return wait.since + (isTrouble(wait) ? patience.trouble : patience.slow);
}

function keyOf(wait: Wait): string {
  return `${wait.what}\n${wait.role}\n${isTrouble(wait)}`;
}

/** 0 from 1 to 9, 1 from 10 to 99, and so on. */
function magnitude(value: number): number {
  return Math.floor(Math.log10(Math.max(1, value)));
}
