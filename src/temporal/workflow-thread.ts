import { promiseHooks } from "node:v8";
import { type Context, type RunningScriptOptions, Script } from "node:vm";
import { isMainThread } from "node:worker_threads";

/**
 * Preloaded into worker processes, for the threads that run workflows: takes out of the SDK what costs most of their
 * time.
 *
 * It enters its sandbox some four times a task, each time with a time-out, for which Node starts and joins a thread of
 * the operating system: on busy cores half of the workflows' time. Without it, an agent loop that never returns shows
 * as workflow tasks that time out.
 *
 * It notes the stack of every promise made, for the query of a workflow's stack trace: half of what then remained.
 * Without it that query answers with nothing; a trajectory's current details say where it is.
 */
if (!isMainThread) {
  const { runInContext } = Script.prototype;
  Script.prototype.runInContext = function (context: Context, options?: RunningScriptOptions) {
    const { timeout: _, ...rest } = options ?? {};
    return runInContext.call(this, context, rest);
  };
  promiseHooks.createHook = () => () => {};
}
