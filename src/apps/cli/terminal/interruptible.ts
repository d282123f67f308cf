import { isEverturnError } from "../../../base/errors/everturn-error.ts";
import { interruption } from "./interruption.ts";

/**
 * Does `work`, and gives it up at Ctrl-C, SIGTERM or SIGHUP: once everything has ended, `farewell` says what is to be said,
 * and the result is "interrupted". Whoever can't wait for that and asks again gets `farewell` alone. Throws what the work does.
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
