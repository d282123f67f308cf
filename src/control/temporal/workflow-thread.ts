import { promiseHooks } from "node:v8";
import vm, { type Context, type RunningScriptOptions, Script } from "node:vm";
import { isMainThread, parentPort } from "node:worker_threads";
import type { WorkerThreadRequest } from "@temporalio/worker/lib/workflow/workflow-worker-thread/input.js";

/**
 * Preloaded into worker processes, for the threads that run workflows. It removes the SDK's most expensive steps,
 * and publishes the request that the thread works on.
 *
 * The SDK enters its sandbox about four times per task with a time-out, for which Node starts and joins a thread of
 * the operating system: on busy cores this takes half of the workflows' time. Instead, loop-watch.ts finds an agent
 * loop that never returns.
 *
 * The SDK's sandbox is a context that asks an object outside of it for each global, which takes a microsecond. A
 * context that has only its own globals takes thirty times less.
 *
 * The SDK also records the stack of every promise, for queries of a workflow's stack trace: half of the remaining
 * time. Without it that query returns an empty answer. A trajectory's current details show where it is.
 */
if (!isMainThread) {
  const { runInContext } = Script.prototype;
  Script.prototype.runInContext = function (context: Context, options?: RunningScriptOptions) {
    const { timeout: _, ...rest } = options ?? {};
    return runInContext.call(this, context, rest);
  };
  promiseHooks.createHook = () => () => {};
  const { createContext } = vm;
  vm.createContext = (_, options) => createContext(vm.constants.DONT_CONTEXTIFY, options);
  if (parentPort !== null) tellRequests(parentPort);
}

/** In the SDK's request that opens a thread: where the thread writes the id of its current request. */
export interface Watched {
  entered?: BigInt64Array<SharedArrayBuffer>;
}

/** In place of a request's id: the thread waits for a request. */
export const idle = -1n;

type Request = Pick<WorkerThreadRequest, "requestId"> & { input: Watched };

/**
 * Publishes the thread's current request. Everything it runs in the sandbox for a request, it runs before the
 * listener returns.
 */
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
