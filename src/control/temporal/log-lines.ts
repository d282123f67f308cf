import type { Worker as Thread } from "node:worker_threads";
import type { WorkerThreadRequest } from "@temporalio/worker/lib/workflow/workflow-worker-thread/input.js";
import type { SinkCall } from "@temporalio/workflow/lib/sinks.js";
import { answer, type ThreadWatch } from "./thread-requests.ts";
import type { Activated, Prepared } from "./workflow-thread.ts";

/**
 * Answers the SDK's requests for the log lines of workflows with those that workflow-thread.ts sent along with the
 * activation's answer.
 */
export function keepLines(thread: Thread): ThreadWatch {
  const kept = new Map<string, SinkCall[]>();
  thread.on("message", ({ result, lines }: Activated) => {
    if (lines === undefined || result.type !== "ok" || result.output?.type !== "activation-completion")
      return;
    const { completion } = result.output;
    if ("runId" in completion && typeof completion.runId === "string") kept.set(completion.runId, lines);
  });

  function takes({ requestId, input }: WorkerThreadRequest): boolean {
    if (input.type === "init") {
      Object.assign<WorkerThreadRequest["input"], Prepared>(input, { sendsLines: true });
    }
    const calls = input.type === "extract-sink-calls" ? kept.get(input.runId) : undefined;
    if (input.type !== "extract-sink-calls" || calls === undefined) return false;
    kept.delete(input.runId);
    const result = { type: "ok", output: { type: "sink-calls", calls } } as const;
    queueMicrotask(() => answer(thread, { requestId, result }));
    return true;
  }

  return { takes };
}
