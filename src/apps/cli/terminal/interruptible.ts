import { isEverturnError } from "../../../base/errors/everturn-error.ts";
import { interruption } from "./interruption.ts";

/**
 * Runs `work`, and gives it up at Ctrl-C, SIGTERM or SIGHUP. Once everything has ended, it calls `farewell`, and the
 * result is "interrupted". A second signal calls `farewell` and ends the process at once. Throws the work's errors.
 */
export async function interruptible<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  farewell: () => void = () => {},
): Promise<Result | "interrupted"> {
  const interrupted = interruption(farewell);
  try {
    return await work(interrupted.signal);
  } catch (error) {
    if (!isEverturnError(error) || error.code !== "INTERRUPTED") throw error;
  } finally {
    interrupted.release();
  }
  farewell();
  process.exitCode = interrupted.code();
  return "interrupted";
}
