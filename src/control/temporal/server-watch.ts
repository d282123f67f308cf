import { setTimeout as sleep } from "node:timers/promises";
import type { Connection } from "@temporalio/client";

/** Ms between two requests, and how long a server may take to answer one. */
const interval = 2000;
const patience = 3000;

/** Reports whether a server answers. */
export interface ServerWatch {
  isUp(): boolean;
  stop(): Promise<void>;
}

/**
 * Asks the server every two seconds whether it is there, and reports to `note` when it stops answering and when it
 * is back.
 */
export function watchServer(
  connection: Connection,
  address: string,
  note: (text: string) => void,
): ServerWatch {
  const stopping = new AbortController();
  const { signal } = stopping;
  let goneSince: number | undefined;

  async function answers(): Promise<boolean> {
    try {
      await connection.withDeadline(Date.now() + patience, () =>
        connection.workflowService.getSystemInfo({}),
      );
      return true;
    } catch {
      return false; // whatever the reason, `note` reports it and the next request follows
    }
  }

  async function watch(): Promise<void> {
    while (!signal.aborted) {
      const asked = Date.now();
      const isUp = await answers();
      if (signal.aborted) return;
      if (!isUp && goneSince === undefined) {
        goneSince = asked;
        note(`the Temporal server at ${address} does not respond: waiting for it (finished work is kept)`);
      } else if (isUp && goneSince !== undefined) {
        const seconds = Math.round((Date.now() - goneSince) / 1000);
        goneSince = undefined;
        note(`the Temporal server at ${address} responds again after ${seconds} s; the run continues`);
      }
      await sleep(interval, undefined, { signal }).catch(() => {}); // ended by the signal
    }
  }

  const watching = watch();
  return {
    isUp: () => goneSince === undefined,
    stop: async () => {
      stopping.abort();
      await watching;
    },
  };
}
