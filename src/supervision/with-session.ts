import { EverturnError } from "../errors/everturn-error.ts";
import { untilAborted, withOwnSignal } from "../promises/abort-signals.ts";
import { openSession, type RunSession } from "./session.ts";

/** What a session is opened with, and what ends the work in it. */
export interface WithSession extends Omit<Parameters<typeof openSession>[0], "stopping"> {
  /** Gives the work up: after `onInterrupt` everything ends. */
  signal: AbortSignal;
  onInterrupt?: (session: RunSession) => Promise<void>;
}

/**
 * Opens a session for `work`, which ends when the session does, and closes it afterwards. Throws what the work, the server
 * or a worker fails with, and INTERRUPTED when the signal has ended it.
 */
export async function withSession<Result>(
  { signal, onInterrupt = async () => {}, ...options }: WithSession,
  work: (session: RunSession) => Promise<Result>,
): Promise<Result> {
  return withOwnSignal(signal, async (stopping) => {
    const interrupted = () =>
      new EverturnError("INTERRUPTED", { run: options.run }, { cause: stopping.reason });
    if (stopping.aborted) throw interrupted();
    try {
      const session = await openSession({ ...options, stopping });
      const working = work(session);
      try {
        const done = working.then((result) => ({ result }));
        const first = await Promise.race([done, session.failed, untilAborted(stopping)]);
        if (first !== undefined) return first.result;
        await onInterrupt(session);
      } finally {
        await session.close();
        await working.catch(() => {}); // it was told, or given up
      }
    } catch (error) {
      // A terminal's Ctrl-C reaches the server and the workers too: what they end of then is no failure.
      if (!stopping.aborted) throw error;
    }
    throw interrupted();
  });
}
