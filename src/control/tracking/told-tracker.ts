import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../base/errors/message-of.ts";
import type { TrackedEnding } from "../../contracts/tracker.ts";
import type { Told, TrackerLink } from "./tracker-link.ts";

/** Milliseconds that a call of a tracker may take, that pass before it is made again, and that a command waits at its end. */
const [callTime, pause, lastTime] = [30_000, 5_000, 5_000];

/** One tracker at work. */
export interface ToldTracker {
  /** Tells it soon, unless it has been told. */
  tell(told: Told): void;
  /** Ends when all is told and the tracker is closed, or the time for that is over; how many were not told. */
  close(ending: TrackedEnding): Promise<number>;
}

/** Tells a tracker in order, each thing once. What fails is told of by `note` when it begins, and tried again. */
export function toldTracker(name: string, link: TrackerLink, note: (text: string) => void): ToldTracker {
  const waiting: Told[] = [];
  const closing = new AbortController();
  let known: Set<string> | undefined; // told before
  let failure = ""; // as it was told
  let working: Promise<void> | undefined;

  /** Does it until it succeeds; false if the time was over before. */
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
        await sleep(pause, undefined, { signal: closing.signal }).catch(() => {}); // it is closing
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

/** With its cause: fetch alone says that it failed. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const why = cause === undefined ? "" : messageOf(cause) || Reflect.get(Object(cause), "code") || "";
  return why === "" ? messageOf(error) : `${messageOf(error)} (${why})`;
}
