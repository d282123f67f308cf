import { openSession, type RunSession } from "../supervision/session.ts";
import { interruption } from "./interruption.ts";

/**
 * Opens a session for `work` and closes it afterwards. At Ctrl-C, SIGTERM or SIGHUP the work is given up: after
 * `onInterrupt` everything ends, `farewell` says what is to be said, and the result is "interrupted". Whoever can't wait
 * for that and asks again gets `farewell` alone. Throws what the work, the server or a worker fails with.
 */
export async function withSession<Result>(
  options: Omit<Parameters<typeof openSession>[0], "stopping">,
  work: (session: RunSession) => Promise<Result>,
  told: { onInterrupt?: (session: RunSession) => Promise<void>; farewell?: () => void } = {},
): Promise<Result | "interrupted"> {
  const { onInterrupt = async () => {}, farewell = () => {} } = told;
  const interrupted = interruption(farewell);
  const { signal } = interrupted;
  try {
    const session = await openSession({ ...options, stopping: signal });
    try {
      const result = await Promise.race([work(session), session.failed, interrupted.promise]);
      if (result !== "interrupted") return result;
      await onInterrupt(session);
    } finally {
      await session.close();
    }
  } catch (error) {
    // A terminal's Ctrl-C reaches the server and the workers too: what they end of then is no failure.
    if (!signal.aborted) throw error;
  } finally {
    interrupted.release();
  }
  farewell();
  process.exitCode = interrupted.code();
  return "interrupted";
}
