import { type Context, type RunningScriptOptions, Script } from "node:vm";
import { isMainThread } from "node:worker_threads";

/**
 * Preloaded into worker processes, for the threads that run workflows. The SDK enters its sandbox some four times a
 * task, each time with a time-out, for which Node starts and joins a thread of the operating system: on busy cores
 * half of the workflows' time. Without it, an agent loop that never returns shows as workflow tasks that time out.
 */
if (!isMainThread) {
  const { runInContext } = Script.prototype;
  Script.prototype.runInContext = function (context: Context, options?: RunningScriptOptions) {
    const { timeout: _, ...rest } = options ?? {};
    return runInContext.call(this, context, rest);
  };
}
