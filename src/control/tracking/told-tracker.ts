import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../base/errors/message-of.ts";
import type { TrackedEnding } from "../../contracts/tracker.ts";
import type { Told, TrackerLink } from "./tracker-link.ts";

/** How long a tracker's call may take, the pause before a retry, and how long a command waits at its end, in ms. */
const [callTime, pause, lastTime] = [30_000, 5_000, 5_000];

/** A running tracker. */
export interface ToldTracker {
  /** Sends an entry soon, unless it was sent before. */
  tell(told: Told): void;
  /**
   * Resolves when everything was sent and the tracker is closed, or time is up. Returns how many entries were not
   * sent.
   */
  close(ending: TrackedEnding): Promise<number>;
}

/**
 * Sends entries to a tracker in order, each once. `note` reports the beginning of a failure, and the entry is
 * retried.
 */
export function toldTracker(name: string, link: TrackerLink, note: (text: string) => void): ToldTracker {
  const waiting: Told[] = [];
  const closing = new AbortController();
  let known: Set<string> | undefined; // sent before
  let failure = ""; // as last reported
  let working: Promise<void> | undefined;

  /** Repeats a call until it succeeds. Returns false if time was up first. */
  async function untilDone(call: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
    while (!closing.signal.aborted) {
      try {
        const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(callTime)]);
        const late = once(signal, "abort").then(() => signal.throwIfAborted());
        await Promise.race([call(signal), late]);
        if (failure !== "") note(`tracker ${name} answers again`);
        failure = "";
        return true;
      } catch (error) {
        if (!closing.signal.aborted) tellFailure(reasonOf(error));
        await sleep(pause, undefined, { signal: closing.signal }).catch(() => {}); // ended by closing
      }
    }
    return false;
  }

  function tellFailure(message: string): void {
    if (message !== failure)
      note(`tracker ${name}: ${message}. The run continues without it, and Everturn tries again`);
    failure = message;
  }

  async function work(): Promise<void> {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      const told = next;
      const isTold = await untilDone(async (signal) => {
        known ??= new Set(await link.logged());
        if (!known.has(told.name)) await link.log(told, signal);
        known.add(told.name);
      });
      if (!isTold) return;
      waiting.shift();
    }
  }

  function begin(): Promise<void> {
    working ??= work().finally(() => {
      working = undefined;
    });
    return working;
  }

  return {
    tell(told) {
      if (waiting.some(({ name: other }) => other === told.name)) return;
      waiting.push(told);
      void begin();
    },
    async close(ending) {
      const late = setTimeout(() => closing.abort(), lastTime);
      await begin();
      if (waiting.length === 0) await untilDone((signal) => link.close(ending, signal));
      clearTimeout(late);
      closing.abort();
      return waiting.length;
    },
  };
}

/** Includes the cause, because fetch itself only reports that it failed. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const why = cause === undefined ? "" : messageOf(cause) || Reflect.get(Object(cause), "code") || "";
  return why === "" ? messageOf(error) : `${messageOf(error)} (${why})`;
}
