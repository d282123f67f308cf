import { Worker as Thread, type Transferable } from "node:worker_threads";
import type { WorkerThreadRequest } from "@temporalio/worker/lib/workflow/workflow-worker-thread/input.js";
import type { WorkerThreadResponse } from "@temporalio/worker/lib/workflow/workflow-worker-thread/output.js";

/** Sees the requests of the SDK to one thread. */
export interface ThreadWatch {
  /** Inspects a request. Returns whether it has answered the request, so that the thread must not get it. */
  takes(request: WorkerThreadRequest): boolean;
}

/** Watches the threads for workflows that this process starts from now on. */
export function watchThreads(watches: readonly ((thread: Thread) => ThreadWatch)[]): { stop(): void } {
  const { postMessage } = Thread.prototype;
  const watched = new WeakMap<Thread, ThreadWatch[]>();
  Thread.prototype.postMessage = function (message: unknown, transferred?: readonly Transferable[]) {
    if (isRequest(message)) {
      if (message.input.type === "init") {
        const own = watches.map((watch) => watch(this));
        watched.set(this, own);
      }
      if (watched.get(this)?.some((watch) => watch.takes(message)) === true) return;
    }
    postMessage.call(this, message, transferred);
  };
  return {
    stop: () => {
      Thread.prototype.postMessage = postMessage;
    },
  };
}

/** Answers a request of the SDK in place of its thread. Call it after `takes` has returned. */
export function answer(thread: Thread, response: WorkerThreadResponse): void {
  thread.emit("message", response);
}

function isRequest(message: unknown): message is WorkerThreadRequest {
  return typeof message === "object" && message !== null && "requestId" in message && "input" in message;
}
