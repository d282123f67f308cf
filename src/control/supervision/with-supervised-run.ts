import { untilAborted, withOwnSignal } from "../../base/async/abort-signals.ts";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { readRunFile } from "../../run/folder/run-file.ts";
import { type SupervisedRun, superviseRun } from "./supervised-run.ts";
import { hasLostItsPort } from "./supervised-server.ts";

/** How to supervise a run, and the ways to end the work on it. */
export interface WithSupervisedRun extends Omit<Parameters<typeof superviseRun>[0], "stopping"> {
  /** Gives up the work. After `onInterrupt` everything ends. */
  signal: AbortSignal;
  onInterrupt?: (supervised: SupervisedRun) => Promise<void>;
}

/** How often a run's own server may move to another port before its work ends. */
const mostMoves = 5;

/**
 * Supervises a run during `work`, which ends if the supervision fails, and closes everything afterwards. If a run's own server
 * loses its port to another program, a new server starts on another one, and `work` is repeated with it.
 * Throws errors of the work, the server or a worker, and INTERRUPTED when the signal has ended it.
 */
export async function withSupervisedRun<Result>(
  { signal, onInterrupt = async () => {}, ...options }: WithSupervisedRun,
  work: (supervised: SupervisedRun) => Promise<Result>,
): Promise<Result> {
  const { runs, run, note } = options;
  let { upgrade = false } = options;
  return withOwnSignal(signal, async (stopping) => {
    for (let moves = 0; !stopping.aborted; moves++) {
      try {
        const supervised = await superviseRun({ ...options, upgrade, stopping });
        const working = work(supervised);
        try {
          const done = working.then((result) => ({ result }));
          const first = await Promise.race([done, supervised.failed, untilAborted(stopping)]);
          if (first !== undefined) return first.result;
          await onInterrupt(supervised);
        } finally {
          await supervised.close();
          await working.catch(() => {}); // its error is already known
        }
      } catch (error) {
        // A terminal's Ctrl-C also reaches the server and the workers. Anything they end because of it is not a
        // failure.
        if (stopping.aborted) break;
        if (!hasLostItsPort(error) || moves === mostMoves) throw error;
        if ((await readRunFile(runs, run, () => {})).address !== undefined) throw error; // a server that it joined
        note?.(
          "another program uses the port of the run's Temporal server: starting the server on another port",
        );
        upgrade = false; // already done
      }
    }
    throw new EverturnError("INTERRUPTED", { run }, { cause: stopping.reason });
  });
}
