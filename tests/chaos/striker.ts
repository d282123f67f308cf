import { setTimeout as sleep } from "node:timers/promises";
import { deck } from "./random.ts";
import type { Strike } from "./recovery.ts";
import { type Kind, send, victims } from "./victims.ts";

/** Milliseconds for which processes are stopped: longer than a heartbeat's time-out. */
const shortestStop = 11_000;
const longestStop = 16_000;

/** Of strikes, how many stop what the others kill. */
const stopShare = 1 / 3;

/** Kills processes of a run and its tools' host, or stops them for a while. */
export interface Striker {
  /** Strikes once; undefined if nothing of what was drawn is alive. */
  strike(run: string): Strike | undefined;
  /** Lets go on what is still stopped. */
  release(): void;
}

/** A striker for the processes that carry `mark`. Each round has the kinds of `round` in random order. */
export function createStriker(
  mark: string,
  { name: scenario, round }: { name: string; round: readonly Kind[] },
  random: () => number,
): Striker {
  const nextKind = deck(round, random);
  const stopped = new Set<Strike>();

  function letGo(strike: Strike): void {
    if (!stopped.delete(strike)) return;
    for (const pid of strike.pids) send("SIGCONT", pid);
    strike.replaced ??= Date.now();
  }

  /** Of workers that share a queue one is struck, or now and then all. */
  function chosen(kind: Kind): number[] {
    const alive = victims(kind, mark).map(({ pid }) => pid);
    const one = alive[Math.floor(random() * alive.length)];
    const isPart = kind !== "everything" && random() < 2 / 3;
    return isPart && one !== undefined ? [one] : alive;
  }

  return {
    strike: (run) => {
      const kind = nextKind();
      const isStop = random() < stopShare && kind !== "sandbox"; // what programs do in one is asked of another process
      const action = isStop ? "stop" : "kill";
      const length = shortestStop + random() * (longestStop - shortestStop);
      const candidates = chosen(kind);
      const time = Date.now();
      const pids = candidates.filter((pid) => send(action === "stop" ? "SIGSTOP" : "SIGKILL", pid));
      if (pids.length === 0) return undefined;
      const strike: Strike = { action, kind, time, pids, scenario, run };
      if (action === "stop") {
        stopped.add(strike);
        void sleep(length).then(() => letGo(strike));
      }
      return strike;
    },
    release: () => {
      for (const strike of [...stopped]) letGo(strike);
    },
  };
}
