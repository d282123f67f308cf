import { openSession, type RunSession } from "../temporal/session.ts";
import { interruption } from "./interruption.ts";

/**
 * Opens a session for `work` and closes it afterwards. At Ctrl-C or SIGTERM the work is given up: "interrupted", after
 * `onInterrupt`. Throws what the work, the server or a worker fails with.
 */
export async function withSession<Result>(
  options: Parameters<typeof openSession>[0],
  work: (session: RunSession) => Promise<Result>,
  onInterrupt: (session: RunSession) => Promise<void> = async () => {},
): Promise<Result | "interrupted"> {
  const interrupted = interruption();
  try {
    const session = await openSession(options);
    try {
      const result = await Promise.race([work(session), session.failed, interrupted.promise]);
      if (result === "interrupted") await onInterrupt(session);
      return result;
    } finally {
      await session.close();
    }
  } catch (error) {
    // A terminal's Ctrl-C reaches the server and the workers too: what they end of then is no failure.
    if (interrupted.happened()) return "interrupted";
    throw error;
  } finally {
    interrupted.release();
  }
}
