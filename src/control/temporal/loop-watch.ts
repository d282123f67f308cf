import { Session } from "node:inspector";
import type { Worker as Thread } from "node:worker_threads";
import { ApplicationFailure, defaultFailureConverter, defaultPayloadConverter } from "@temporalio/common";
import type { WorkerThreadRequest } from "@temporalio/worker/lib/workflow/workflow-worker-thread/input.js";
import type { WorkerThreadResponse } from "@temporalio/worker/lib/workflow/workflow-worker-thread/output.js";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { tellNotice } from "../../base/processes/notice.ts";
import { answer, type ThreadWatch } from "./thread-requests.ts";
import { idle, type Prepared } from "./workflow-thread.ts";

type Activation = Extract<WorkerThreadRequest["input"], { type: "activate-workflow" }>["activation"];

/** How to handle an agent loop that does not return. */
interface Options {
  /** The loop's name, or all names if there are several. */
  loop: string;
  /**
   * Called when something other than a trajectory is stuck: with LOOP_MODULE_STUCK while the loop's module loads,
   * else LOOP_STUCK.
   */
  onLost: (error: EverturnError) => void;
}

/**
 * CPU seconds that a loop may take before it awaits something. A loop that was stuck once gets less, because it will
 * probably be stuck again. A workflow that is not a trajectory has no loop, but may get signals about thousands of
 * trajectories at once.
 */
const patience = { first: 5, next: 1, others: 60 };

/** Ms between two checks of a thread. */
const interval = 500;

/**
 * Watches a thread that runs workflows, in which workflow-thread.ts is preloaded. It interrupts a thread that spends
 * seconds of its own CPU time on one request, which no stopped or busy machine can cause. The thread continues with
 * the next request, the trajectory's workflow fails with LOOP_STUCK, and the user is notified. This costs a thread two
 * memory writes per request.
 */
export function watchLoop(thread: Thread, { loop, onLost }: Options): ThreadWatch {
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
      const error = stuck.get(input.runId); // the server had given up that task, and another thread would get stuck
      if (error !== undefined) {
        queueMicrotask(() => fail(requestId, input.runId, error));
        return true;
      }
    }
    requests.set(requestId, input);
    if (input.type === "init") Object.assign<WorkerThreadRequest["input"], Prepared>(input, { entered });
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
    Atomics.compareExchange(entered, 0, request, idle); // the thread could not write that itself
    const input = requests.get(request);
    if (!isInterrupted || input === undefined) return;
    const isAtWork = input.type === "activate-workflow";
    const error = new EverturnError(isAtWork ? "LOOP_STUCK" : "LOOP_MODULE_STUCK", { loop });
    seconds = patience.next;
    const trajectory = input.type === "activate-workflow" ? trajectories.get(input.runId) : undefined;
    if (input.type !== "activate-workflow" || trajectory === undefined) {
      const { name, message, stack = "" } = error;
      answer(thread, { requestId: request, result: { type: "error", name, message, stack } });
      return onLost(error);
    }
    fail(request, input.runId, error);
    stuck.set(input.runId, error);
    const notice = `the agent loop ${loop} does not return in trajectory ${trajectory}, so Everturn leaves it out`;
    tellNotice({ code: error.code, notice });
  }

  /** Fails a workflow in place of its activation's answer. */
  function fail(requestId: bigint, runId: string, { code, message }: EverturnError): void {
    const cause = ApplicationFailure.create({ type: code, message, nonRetryable: true });
    const failure = defaultFailureConverter.errorToFailure(cause, defaultPayloadConverter);
    const completion = { runId, successful: { commands: [{ failWorkflowExecution: { failure } }] } };
    answer(thread, {
      requestId,
      result: { type: "ok", output: { type: "activation-completion", completion } },
    });
  }

  return { takes };
}

/** Whether an activation continues a workflow, as opposed to replaying it or only answering a query. */
function isNews(activation: Activation): boolean {
  if (activation instanceof Uint8Array || activation.isReplaying === true) return false;
  return activation.jobs?.some(({ queryWorkflow }) => !queryWorkflow) === true;
}

/**
 * CPU seconds of a thread. Where Node can't report these (before 24.6), seconds in which this thread ran often
 * enough to ask.
 */
function cpuClock(thread: Thread): () => Promise<number> {
  let asked = 0;
  return async () => {
    asked++;
    if (typeof thread.cpuUsage !== "function") return (asked * interval) / 1000;
    const { user, system } = await thread.cpuUsage().catch(() => ended);
    return (user + system) / 1e6;
  };
}

/** For a thread that has ended meanwhile and is idle. */
const ended = { user: 0, system: 0 };

/** Interrupts a thread's code up to its event loop if it still `isStuck`. The thread lives on. */
async function interrupt(thread: Thread, isStuck: () => boolean): Promise<boolean> {
  const session = new Session();
  session.connect();
  const isInterrupted = await new Promise<boolean>((resolve) => {
    thread.once("exit", () => resolve(false));
    session.once("NodeWorker.receivedMessageFromWorker", () => resolve(true));
    session.on("NodeWorker.attachedToWorker", ({ params: { sessionId, workerInfo } }) => {
      if (!workerInfo.title.startsWith(`[worker ${thread.threadId}]`)) return; // workerId numbers are the session's
      if (!isStuck()) return resolve(false);
      const message = JSON.stringify({ id: 1, method: "Runtime.terminateExecution" });
      session.post("NodeWorker.sendMessageToWorker", { sessionId, message });
    });
    session.post("NodeWorker.enable", { waitForDebuggerOnStart: false });
  });
  session.disconnect();
  return isInterrupted;
}
