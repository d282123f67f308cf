import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { ResolvedTool } from "../../contracts/plan.ts";
import type { ToolCreation, ToolPlugin } from "../../contracts/tool.ts";
import type { CheckedResponse } from "../../plugin/host/checked-response.ts";
import { type InstanceState, pluginThread } from "../../plugin/host/plugin-thread.ts";
import type { StartThread } from "../../plugin/host/running-thread.ts";

/**
 * A tool's plugin as its worker sees it. Its code and the states of its instances are in a separate thread.
 */
export interface ToolThread {
  /**
   * The tool's time-out limits each function. The functions throw TOOL_TIMED_OUT, TOOL_FAILED,
   * PLUGIN_THREAD_ENDED.
   */
  plugin: ToolPlugin<InstanceState | undefined, CheckedResponse>;
  /** Whether the thread that holds the state has ended. */
  isLost(state: InstanceState | undefined): boolean;
  close(): Promise<void>;
}

/**
 * Starts the thread of a tool, with `start` or in this process. Throws PLUGIN_ENTRY_FAILED,
 * PLUGIN_EXPORT_INVALID.
 */
export async function toolThread(
  resolved: ResolvedTool,
  tool: string,
  log: (text: string) => void,
  start?: StartThread,
): Promise<ToolThread> {
  const { timeout } = resolved;
  const errors = {
    timedOut: () => new EverturnError("TOOL_TIMED_OUT", { tool, seconds: timeout / 1000 }),
    failed: (reason: string, cause: unknown) => new EverturnError("TOOL_FAILED", { tool, reason }, { cause }),
  };
  const thread = pluginThread({ kind: "tool", plugin: resolved, limit: timeout, errors, log }, start);
  const functions = await thread.functions();
  const plugin: ToolThread["plugin"] = {
    execute: async (parameters, { signal, ...execution }, instance) =>
      instance === undefined
        ? thread.ask("execute", { parameters, execution, state: undefined }, { signal })
        : thread.askOf("execute", instance, (state) => ({ parameters, execution, state }), { signal }),
  };
  if (functions.has("create")) {
    plugin.create = ({ signal, hold, ...creation }) => thread.make("create", creation, { signal, hold });
  }
  if (functions.has("restore")) {
    plugin.restore = (snapshot, { signal, hold, ...creation }: ToolCreation) =>
      thread.make("restore", { snapshot, creation }, { signal, hold });
  }
  if (functions.has("snapshot")) {
    plugin.snapshot = (instance) => thread.askOf("snapshot", given(instance), (state) => ({ state }));
  }
  if (functions.has("release")) {
    plugin.release = async (instance) => {
      try {
        await thread.askOf("release", given(instance), (state) => ({ state }));
      } finally {
        thread.forget(given(instance));
      }
    };
  }
  if (functions.has("reap")) plugin.reap = (handle, config) => thread.ask("reap", { handle, config });
  if (functions.has("probe")) plugin.probe = (config) => thread.ask("probe", { config });
  return {
    plugin,
    isLost: (instance) => instance !== undefined && thread.isLost(instance),
    close: thread.close,
  };
}

function given(instance: InstanceState | undefined): InstanceState {
  if (instance === undefined) throw new Error("there is no instance");
  return instance;
}
