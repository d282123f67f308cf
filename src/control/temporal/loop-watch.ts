import { Session } from "node:inspector";
import { Worker as Thread, type Transferable } from "node:worker_threads";
import { ApplicationFailure, defaultFailureConverter, defaultPayloadConverter } from "@temporalio/common";
import type { WorkerThreadRequest } from "@temporalio/worker/lib/workflow/workflow-worker-thread/input.js";
import type { WorkerThreadResponse } from "@temporalio/worker/lib/workflow/workflow-worker-thread/output.js";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { tellNotice } from "../../base/processes/notice.ts";
import { idle, type Watched } from "./workflow-thread.ts";

type Activation = Extract<WorkerThreadRequest["input"], { type: "activate-workflow" }>["activation"];

/** What is done about an agent loop that does not return. */
interface Options {
  /** The loop's name; of several, all of them. */
  loop: string;
  /** Told that it is no trajectory that is stuck: LOOP_MODULE_STUCK where the loop's module is loaded, else LOOP_STUCK. */
  onLost: (error: EverturnError) => void;
}

/**
 * CPU seconds that a loop may take before it awaits something; less once it was stuck, as it will be so often. A workflow
 * that is no trajectory has no loop to get stuck in, but may be told of thousands of trajectories at once.
 */
const patience = { first: 5, next: 1, others: 60 };

/** Milliseconds between two looks at a thread. */
const interval = 500;

/**
 * Watches the threads that this process starts for workflows, where workflow-thread.ts is preloaded. One that is at
 * the same request for seconds of its own CPU time, as no stopped or busy machine can make it, is interrupted and goes
 * on with the next; its trajectory's workflow fails with LOOP_STUCK, and the user is told. Costs a thread two writes to
 * memory a request.
 */
export function watchLoops(options: Options): { stop(): void } {
  const { postMessage } = Thread.prototype;
  const watches = new WeakMap<Thread, ThreadWatch>();
  Thread.prototype.postMessage = function (message: unknown, transferred?: readonly Transferable[]) {
    if (isRequest(message)) {
      if (message.input.type === "init") watches.set(this, watchThread(this, options));
      if (watches.get(this)?.takes(message) === true) return;
    }
    postMessage.call(this, message, transferred);
  };
  return {
    stop: () => {
      Thread.prototype.postMessage = postMessage;
    },
  };
}

interface ThreadWatch {
  /** Takes note of a request of the SDK; whether it answers it, so that the thread must not get it. */
  takes(request: WorkerThreadRequest): boolean;
}

function watchThread(thread: Thread, { loop, onLost }: Options): ThreadWatch {
  const entered = new BigInt64Array(new SharedArrayBuffer(8)).fill(idle);
  const requests = new Map<bigint, WorkerThreadRequest["input"]>();
  const trajectories = new Map<string, string>();
  const stuck = new Map<string, EverturnError>();
  const cpuSeconds = cpuClock(thread);
  let seconds = patience.first;
  let seen = { request: idle, at: 0 };
  let isLooking = false;

  const looking = setInterval(() => isLooking || look(), interval).unref();
  thread.once("exit", () => clearInterval(looking));
  thread.on("message", ({ requestId }: WorkerThreadResponse) => requests.delete(requestId));

  function takes({ requestId, input }: WorkerThreadRequest): boolean {
    if (input.type === "activate-workflow" && isNews(input.activation)) {
      const error = stuck.get(input.runId); // the server had given that task up, and another would get stuck
      if (error !== undefined) {
        queueMicrotask(() => fail(requestId, input.runId, error));
        return true;
      }
    }
    requests.set(requestId, input);
    if (input.type === "init") Object.assign<WorkerThreadRequest["input"], Watched>(input, { entered });
    if (input.type === "create-workflow" && input.options.info.workflowType === "trajectory") {
      trajectories.set(input.options.info.runId, input.options.info.workflowId);
    }
    if (input.type === "dispose-workflow") trajectories.delete(input.runId);
    return false;
  }

  async function look(): Promise<void> {
    const request = Atomics.load(entered, 0);
    if (request === idle) return;
    isLooking = true;
    try {
      const at = await cpuSeconds();
      if (request !== seen.request) seen = { request, at };
      else if (at - seen.at >= patienceWith(request)) await end(request);
    } finally {
      isLooking = false;
    }
  }

  function patienceWith(request: bigint): number {
    const input = requests.get(request);
    const isOther = input?.type === "activate-workflow" && !trajectories.has(input.runId);
    return isOther ? patience.others : seconds;
  }

  async function end(request: bigint): Promise<void> {
    const isInterrupted = await interrupt(thread, () => Atomics.load(entered, 0) === request);
    Atomics.compareExchange(entered, 0, request, idle); // it could not write that down itself
    const input = requests.get(request);
    if (!isInterrupted || input === undefined) return;
    const isAtWork = input.type === "activate-workflow";
    const error = new EverturnError(isAtWork ? "LOOP_STUCK" : "LOOP_MODULE_STUCK", { loop });
    seconds = patience.next;
    const trajectory = input.type === "activate-workflow" ? trajectories.get(input.runId) : undefined;
    if (input.type !== "activate-workflow" || trajectory === undefined) {
      const { name, message, stack = "" } = error;
      answer({ requestId: request, result: { type: "error", name, message, stack } });
      return onLost(error);
    }
    fail(request, input.runId, error);
    stuck.set(input.runId, error);
    const notice = `the agent loop ${loop} does not return in trajectory ${trajectory}, so Everturn leaves it out`;
    tellNotice({ code: error.code, notice });
  }

  /** Ends a workflow in the place of its activation's answer. */
  function fail(requestId: bigint, runId: string, { code, message }: EverturnError): void {
    const cause = ApplicationFailure.create({ type: code, message, nonRetryable: true });
    const failure = defaultFailureConverter.errorToFailure(cause, defaultPayloadConverter);
    const completion = { runId, successful: { commands: [{ failWorkflowExecution: { failure } }] } };
    answer({ requestId, result: { type: "ok", output: { type: "activation-completion", completion } } });
  }

  function answer(response: WorkerThreadResponse): void {
    thread.emit("message", response);
  }

  return { takes };
}

function isRequest(message: unknown): message is WorkerThreadRequest {
  return typeof message === "object" && message !== null && "requestId" in message && "input" in message;
}

/** Whether a workflow is asked to go on: not to repeat what it did, and not only to answer a query. */
function isNews(activation: Activation): boolean {
  if (activation instanceof Uint8Array || activation.isReplaying === true) return false;
  return activation.jobs?.some(({ queryWorkflow }) => !queryWorkflow) === true;
}

/** CPU seconds of a thread; where Node can't tell (before 24.6), seconds in which this thread ran often enough to ask. */
function cpuClock(thread: Thread): () => Promise<number> {
  let asked = 0;
  return async () => {
    asked++;
    if (typeof thread.cpuUsage !== "function") return (asked * interval) / 1000;
    const { user, system } = await thread.cpuUsage().catch(() => ended);
    return (user + system) / 1e6;
  };
}

/** Of a thread that has ended meanwhile: it is at nothing. */
const ended = { user: 0, system: 0 };

/** Ends what a thread executes, all the way up to its event loop, if it `isStuck` still; the thread lives on. */
async function interrupt(thread: Thread, isStuck: () => boolean): Promise<boolean> {
  const session = new Session();
  session.connect();
  const isInterrupted = await new Promise<boolean>((resolve) => {
    thread.once("exit", () => resolve(false));
    session.once("NodeWorker.receivedMessageFromWorker", () => resolve(true));
    session.on("NodeWorker.attachedToWorker", ({ params: { sessionId, workerInfo } }) => {
      if (!workerInfo.title.startsWith(`[worker ${thread.threadId}]`)) return; // its workerId is a number of the session's
      if (!isStuck()) return resolve(false);
      const message = JSON.stringify({ id: 1, method: "Runtime.terminateExecution" });
      session.post("NodeWorker.sendMessageToWorker", { sessionId, message });
    });
    session.post("NodeWorker.enable", { waitForDebuggerOnStart: false });
  });
  session.disconnect();
  return isInterrupted;
}
