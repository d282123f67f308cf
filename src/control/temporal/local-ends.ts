import { EventEmitter } from "node:events";
import type { Worker as Thread } from "node:worker_threads";
import { defaultPayloadConverter, type Payload } from "@temporalio/common";
import proto, { type coresdk } from "@temporalio/proto";
import type { Worker } from "@temporalio/worker";
import type { WorkerThreadResponse } from "@temporalio/worker/lib/workflow/workflow-worker-thread/output.js";
import type { ThreadWatch } from "./thread-requests.ts";

/** The ends of trajectories' workflows that this process ran, so that nobody has to ask the server for them. */
export interface LocalEnds {
  /**
   * The result of a run, once the server has accepted its completion from this process. Undefined if the run left this
   * process without a result or has not ended after two seconds. Then ask the server.
   */
  resultOf<Result>(runId: string): Promise<{ result: Result } | undefined>;
}

/** Sees the workflows of this process. */
export interface EndsObserver extends LocalEnds {
  /** Sees the results of workflows in a thread. */
  watch(thread: Thread): ThreadWatch;
  /** Sees which completions the server accepts from a worker. */
  follow(worker: Worker): void;
}

/** Milliseconds after which the server is asked, because it also knows of runs that somebody else ended. */
const usualPatience = 2000;

/** How many ends are kept that nobody has asked for yet, each for as long as one waits. */
const mostKept = 256;

interface Eviction {
  runId: string;
  evictJob: coresdk.workflow_activation.IRemoveFromCache;
}

const { WORKFLOW_EXECUTION_ENDING } = proto.coresdk.workflow_activation.RemoveFromCache.EvictionReason;

/** Observes the ends of trajectories in the threads and workers that its functions receive. */
export function localEnds(patience = usualPatience): EndsObserver {
  /** Results of trajectories on their way to the server, by run. */
  const sent = new Map<string, Payload | undefined>();
  const ended = new Map<string, Payload>();
  const waiting = new Map<string, (end: Payload | undefined) => void>();
  let isFollowing = false;

  function watch(thread: Thread): ThreadWatch {
    thread.on("message", ({ result }: WorkerThreadResponse) => {
      const output = result?.type === "ok" ? result.output : undefined;
      if (output?.type !== "activation-completion" || output.completion instanceof Uint8Array) return;
      const { runId, successful } = output.completion;
      const end = successful?.commands?.find(
        ({ completeWorkflowExecution: one }) => one,
      )?.completeWorkflowExecution;
      if (runId && end?.result && sent.has(runId)) sent.set(runId, end.result);
    });
    return {
      takes: ({ input }) => {
        if (input.type !== "create-workflow") return false;
        const { workflowType, runId } = input.options.info;
        if (workflowType === "trajectory") sent.set(runId, undefined);
        return false;
      },
    };
  }

  function follow(worker: Worker): void {
    const evictions: unknown = Reflect.get(worker, "evictionsEmitter"); // the SDK's own, which it does not export
    if (!(evictions instanceof EventEmitter)) return;
    isFollowing = true;
    evictions.on("eviction", ({ runId, evictJob }: Eviction) => evicted(runId, evictJob.reason));
  }

  /**
   * The SDK gives this reason once it has reported a workflow's completion and the server has accepted it. After a
   * rejected completion it gives the reason of the rejection.
   */
  function evicted(runId: string, reason: Eviction["evictJob"]["reason"]): void {
    const result = reason === WORKFLOW_EXECUTION_ENDING ? sent.get(runId) : undefined;
    sent.delete(runId);
    const tell = waiting.get(runId);
    tell?.(result);
    if (tell !== undefined || result === undefined) return;
    ended.set(runId, result);
    setTimeout(() => ended.delete(runId), patience).unref();
    const [oldest] = ended.keys();
    if (ended.size > mostKept && oldest !== undefined) ended.delete(oldest);
  }

  async function endOf(runId: string): Promise<Payload | undefined> {
    if (!isFollowing) return undefined;
    const known = ended.get(runId);
    if (ended.delete(runId)) return known;
    const { promise, resolve } = Promise.withResolvers<Payload | undefined>();
    waiting.set(runId, resolve);
    const timer = setTimeout(resolve, patience, undefined).unref();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      waiting.delete(runId);
    }
  }

  async function resultOf<Result>(runId: string): Promise<{ result: Result } | undefined> {
    const end = await endOf(runId);
    return end && { result: defaultPayloadConverter.fromPayload<Result>(end) };
  }

  return { resultOf, watch, follow };
}
