import { setTimeout as sleep } from "node:timers/promises";
import { withLiveRun } from "../../src/control/supervision/run-client.ts";
import { askTranscript, giveOrder, liveTrajectories } from "../../src/control/temporal/live-trajectories.ts";

/**
 * Approves every tool call of a run that waits, as `everturn approvals` and `everturn trajectory approve` do, until
 * `ended` aborts. What fails because something was struck is tried again.
 */
export async function approveAll(options: {
  runs: string;
  run: () => string | undefined;
  ended: AbortSignal;
}): Promise<void> {
  const { runs, run, ended } = options;
  while (!ended.aborted) {
    await sleep(500);
    const name = run();
    if (name === undefined) continue;
    await withLiveRun({ runs, run: name }, async (client) => {
      while (!ended.aborted) {
        for (const id of await liveTrajectories(client, name, true)) {
          const { waiting } = await askTranscript(client, id);
          for (const { call } of waiting) await giveOrder(client, id, "approve", { call });
        }
        await sleep(200);
      }
    }).catch(() => {}); // the server or a worker is down: the next round asks again
  }
}
