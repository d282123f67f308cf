import { promiseHooks } from "node:v8";
import vm, { type Context, type RunningScriptOptions, Script } from "node:vm";
import { isMainThread, parentPort } from "node:worker_threads";
import type { WorkerThreadRequest } from "@temporalio/worker/lib/workflow/workflow-worker-thread/input.js";
import type {
  WorkerThreadOkResult,
  WorkerThreadResponse,
} from "@temporalio/worker/lib/workflow/workflow-worker-thread/output.js";

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
 *
 * After each activation, the SDK asks the thread in a second message for the workflow's sink calls, such as log lines.
 * The thread sends them along with the activation's answer, for loop-watch.ts to answer the second message.
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
  if (parentPort !== null) tellRequests(parentPort, answerTogether(parentPort));
}

/** In the SDK's request that opens a thread: where the thread writes the id of its current request. */
export interface Watched {
  entered?: BigInt64Array<SharedArrayBuffer>;
}

/** In the answer to an activation: the answer to the request for the workflow's sink calls that will follow. */
export interface Combined {
  sinks?: WorkerThreadOkResult;
}

/** In place of a request's id: the thread waits for a request. */
export const idle = -1n;

type Request = WorkerThreadRequest & { input: Watched };

/**
 * Publishes the thread's current request. Everything it runs in the sandbox for a request, it runs before the
 * listener returns. Calls `onRequest` with each request before that, if the thread is watched.
 */
function tellRequests(
  port: NonNullable<typeof parentPort>,
  onRequest: (request: WorkerThreadRequest, listener: (request: WorkerThreadRequest) => void) => void,
): void {
  const on = port.on.bind(port);
  let entered: Watched["entered"];
  const value = (event: string, listener: (request: WorkerThreadRequest) => void) =>
    on(event, (request: Request) => {
      entered = request.input.entered ?? entered;
      if (entered === undefined) return listener(request);
      onRequest(request, listener);
      Atomics.store(entered, 0, request.requestId);
      listener(request);
      Atomics.store(entered, 0, idle);
    });
  Object.defineProperty(port, "on", { value });
}

/**
 * Holds the answer to each activation back until the thread has answered a request for its workflow's sink calls, too,
 * and sends both as one message. The returned function receives all requests.
 */
function answerTogether(
  port: NonNullable<typeof parentPort>,
): (request: WorkerThreadRequest, listener: (request: WorkerThreadRequest) => void) => void {
  const post = port.postMessage.bind(port);
  const activations = new Map<bigint, () => void>();
  const held = new Map<bigint, WorkerThreadResponse>();
  port.postMessage = (response: WorkerThreadResponse) => {
    const { requestId, result } = response;
    const askForSinks = activations.get(requestId);
    const first = held.get(requestId);
    activations.delete(requestId);
    held.delete(requestId);
    if (first !== undefined) {
      post(result.type === "ok" ? { ...first, sinks: result } : first);
    } else if (askForSinks !== undefined && result.type === "ok") {
      held.set(requestId, response);
      askForSinks();
    } else post(response);
  };
  return ({ requestId, input }, listener) => {
    if (input.type !== "activate-workflow") return;
    const { runId } = input;
    activations.set(requestId, () => listener({ requestId, input: { type: "extract-sink-calls", runId } }));
  };
}
