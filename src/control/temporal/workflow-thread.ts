import { promiseHooks } from "node:v8";
import { type Context, type RunningScriptOptions, Script } from "node:vm";
import { isMainThread, parentPort } from "node:worker_threads";
import type { WorkerThreadRequest } from "@temporalio/worker/lib/workflow/workflow-worker-thread/input.js";

/**
 * Preloaded into worker processes, for the threads that run workflows: takes out of the SDK what costs most of their
 * time, and says what the thread is at.
 *
 * It enters its sandbox some four times a task, each time with a time-out, for which Node starts and joins a thread of
 * the operating system: on busy cores half of the workflows' time. An agent loop that never returns is found by
 * loop-watch.ts instead.
 *
 * It notes the stack of every promise made, for the query of a workflow's stack trace: half of what then remained.
 * Without it that query answers with nothing; a trajectory's current details say where it is.
 */
if (!isMainThread) {
  const { runInContext } = Script.prototype;
  Script.prototype.runInContext = function (context: Context, options?: RunningScriptOptions) {
    const { timeout: _, ...rest } = options ?? {};
    return runInContext.call(this, context, rest);
  };
  promiseHooks.createHook = () => () => {};
  if (parentPort !== null) tellRequests(parentPort);
}

/** Of the SDK's request that opens a thread: where it writes the id of the request that it is at. */
export interface Watched {
  entered?: BigInt64Array<SharedArrayBuffer>;
}

/** In the place of a request's id: the thread waits for one. */
export const idle = -1n;

type Request = Pick<WorkerThreadRequest, "requestId"> & { input: Watched };

/** Writes down which request the thread is at. All that it runs in the sandbox it runs before the listener returns. */
function tellRequests(port: NonNullable<typeof parentPort>): void {
  const on = port.on.bind(port);
  let entered = new BigInt64Array(new SharedArrayBuffer(8));
  const value = (event: string, listener: (request: Request) => void) =>
    on(event, (request: Request) => {
      entered = request.input.entered ?? entered;
      Atomics.store(entered, 0, request.requestId);
      listener(request);
      Atomics.store(entered, 0, idle);
    });
  Object.defineProperty(port, "on", { value });
}
