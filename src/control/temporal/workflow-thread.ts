import { promiseHooks } from "node:v8";
import vm, { type Context, type RunningScriptOptions, Script } from "node:vm";
import { isMainThread, parentPort } from "node:worker_threads";
import type { WorkerThreadRequest } from "@temporalio/worker/lib/workflow/workflow-worker-thread/input.js";
import type {
  ActivationCompletion,
  WorkerThreadResponse,
} from "@temporalio/worker/lib/workflow/workflow-worker-thread/output.js";
import type { SinkCall } from "@temporalio/workflow/lib/sinks.js";

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
 * The SDK asks for a workflow's log lines after each activation. The thread sends them along with the answer, which
 * saves almost half of the messages (log-lines.ts).
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
  if (parentPort !== null) {
    tellRequests(parentPort);
    sendLines(parentPort);
  }
}

/** In the SDK's request that opens a thread. */
export interface Prepared {
  /** Where the thread writes the id of its current request. */
  entered?: BigInt64Array<SharedArrayBuffer>;
  /** Whether the thread adds a workflow's log lines to the answer to each activation. */
  sendsLines?: boolean;
}

/** The answer to an activation. */
export type Activated = WorkerThreadResponse & {
  /** The log lines of the workflow. Absent if the SDK has to ask for them. */
  lines?: SinkCall[];
};

/** In place of a request's id: the thread waits for a request. */
export const idle = -1n;

type Port = NonNullable<typeof parentPort>;

type Request = WorkerThreadRequest & { input: Prepared };

/**
 * Publishes the thread's current request. Everything it runs in the sandbox for a request, it runs before the
 * listener returns.
 */
function tellRequests(port: Port): void {
  const on = port.on.bind(port);
  let entered = new BigInt64Array(new SharedArrayBuffer(8));
  const listen = (event: string, listener: (request: Request) => void) =>
    on(event, (request: Request) => {
      entered = request.input.entered ?? entered;
      Atomics.store(entered, 0, request.requestId);
      listener(request);
      Atomics.store(entered, 0, idle);
    });
  Object.assign(port, { on: listen });
}

/** Levels that Everturn's logger drops. The SDK logs the start and the end of each workflow at one of them. */
const dropped = new Set(["trace", "debug"]);

/**
 * Adds the log lines of a workflow to the answer to each activation. To get them, the thread handles the request that
 * the SDK would send next, with an id that the SDK does not use.
 */
function sendLines(port: Port): void {
  const on = port.on.bind(port);
  const post = port.postMessage.bind(port);
  const waiting = new Map<bigint, WorkerThreadResponse>();
  let ask: ((request: WorkerThreadRequest) => void) | undefined;

  function listen(event: string, listener: (request: Request) => void): Port {
    return on(event, (request: Request) => {
      if (request.input.sendsLines === true) ask = listener;
      listener(request);
    });
  }

  function send(response: WorkerThreadResponse): void {
    const output = response.result?.type === "ok" ? response.result.output : undefined;
    const answered = waiting.get(response.requestId);
    if (answered !== undefined) {
      waiting.delete(response.requestId);
      const lines = output?.type === "sink-calls" ? { lines: output.calls.filter(isWritten) } : {};
      postWithLines(answered, lines);
      return;
    }
    const runId = output?.type === "activation-completion" ? runOf(output) : undefined;
    if (ask === undefined || runId === undefined) {
      post(response);
      return;
    }
    const requestId = -2n - response.requestId;
    waiting.set(requestId, response);
    ask({ requestId, input: { type: "extract-sink-calls", runId } });
  }

  /** Fails the activation, as the SDK would, if a line's attributes can't be sent to another thread. */
  function postWithLines(activated: WorkerThreadResponse, lines: Pick<Activated, "lines">): void {
    try {
      post(Object.assign(activated, lines));
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const { name, message, stack = "" } = error;
      post({ requestId: activated.requestId, result: { type: "error", name, message, stack } });
    }
  }

  Object.assign(port, { on: listen, postMessage: send });
}

function isWritten({ ifaceName, fnName }: SinkCall): boolean {
  return ifaceName !== "__temporal_logger" || !dropped.has(fnName);
}

function runOf({ completion }: ActivationCompletion): string | undefined {
  return completion instanceof Uint8Array ? undefined : (completion.runId ?? undefined);
}
