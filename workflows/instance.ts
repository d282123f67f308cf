import { type WorkflowInterceptors, workflowInfo } from "@temporalio/workflow";
import { buildAnew } from "../src/contracts/run.ts";

declare global {
  /**
   * The length of the history at the first task that this instance carried out rather than replayed. Workflows share
   * modules and their variables, but each has its own globals.
   */
  var everturnFirstTask: number | undefined;
}

/**
 * Whether this instance of the workflow has just been built from its history. An instance that stays in a
 * worker's cache between tasks may have missed events that the history has (decision 0107).
 */
export function isBuiltAnew(): boolean {
  const { historyLength, unsafe } = workflowInfo();
  return unsafe.isReplaying || globalThis.everturnFirstTask === historyLength;
}

/**
 * An interceptor around every workflow. With it, a cached instance fails a task that carries the signal
 * `build-anew`. The worker then drops the instance, and the server hands out the task again with the whole
 * history.
 */
export const interceptors = (): WorkflowInterceptors => ({
  internals: [
    {
      activate: (input, next) => {
        const { historyLength, unsafe } = workflowInfo();
        if (!unsafe.isReplaying) globalThis.everturnFirstTask ??= historyLength;
        const isTold = input.activation.jobs?.some((job) => job.signalWorkflow?.signalName === buildAnew);
        if (isTold && !isBuiltAnew()) throw new Error("The run stands still. Rebuilding from the history.");
        next(input);
      },
    },
  ],
});
