import { createContext, Script } from "node:vm";

/** Work that took longer than it might. */
export class OutOfTime extends Error {
  override readonly name = "OutOfTime";
}

const room = createContext({ work: () => {} });
const script = new Script("work()");

/**
 * Does work that does not wait, and interrupts it after `limit` ms: V8 ends loops and regular expressions where they are. It
 * costs 0.2 ms, for the thread that watches the clock. Throws OutOfTime, and what the work throws.
 */
export function withinTime<T>(limit: number, work: () => T): T {
  let result: { value: T } | undefined;
  room.work = () => {
    result = { value: work() };
  };
  try {
    script.runInContext(room, { timeout: limit });
  } catch (error) {
    throw isTimeOut(error) ? new OutOfTime() : error;
  }
  if (result === undefined) throw new OutOfTime();
  return result.value;
}

/** It is an Error of the other context. */
function isTimeOut(error: unknown): boolean {
  return (
    typeof error === "object" &&
    error !== null &&
    "code" in error &&
    error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT"
  );
}
