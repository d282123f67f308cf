import type { JsonObject } from "../contracts/json.ts";
import type { ResolvedTool } from "../contracts/plan.ts";
import type { ToolPlugin } from "../contracts/tool.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { messageOf } from "../errors/message-of.ts";
import { argumentsValidator } from "../plugins/validate-arguments.ts";
import { bounded } from "./bounded.ts";
import type { ToolHost } from "./host.ts";
import { createSlots, type Slots } from "./slots.ts";

/** A tool of a run, ready to be called. */
export interface OpenTool {
  name: string;
  plugin: ToolPlugin<unknown>;
  config: JsonObject;
  recovery: "snapshot" | "replay" | "fail";
  maximumAttempts: number;
  host: ToolHost;
  slots: Slots | undefined;
  /** What is wrong with the model's arguments, said to the model; undefined if nothing is. */
  validate(parameters: JsonObject): string | undefined;
  /**
   * What the plugin does, bounded by the tool's time-out and `signal`. Throws TOOL_TIMED_OUT, TOOL_FAILED, the
   * signal's reason.
   */
  attempt<T>(work: (signal: AbortSignal) => Promise<T> | T, signal?: AbortSignal): Promise<T>;
}

/** Opens a tool whose plugin was loaded, on its host. */
export function openTool(resolved: ResolvedTool, plugin: ToolPlugin<unknown>, host: ToolHost): OpenTool {
  const { config, timeout, concurrency, retry, manifest } = resolved;
  const name = manifest.tool?.name ?? resolved.name;
  const attempt: OpenTool["attempt"] = async (work, signal) => {
    const timedOut = () => new EverturnError("TOOL_TIMED_OUT", { tool: name, seconds: timeout / 1000 });
    const ended = signal === undefined ? {} : { signal };
    return bounded((own) => failingAs(name, own, () => work(own)), { limit: timeout, timedOut, ...ended });
  };
  if (plugin.probe !== undefined) {
    host.breaker.probeWith(() => attempt(async () => plugin.probe?.(config)));
  }
  return {
    ...{ name, plugin, config, host, attempt },
    recovery: manifest.tool?.recovery ?? "fail",
    maximumAttempts: retry.maximumAttempts,
    slots: concurrency === undefined ? undefined : createSlots(concurrency),
    validate: argumentsValidator(manifest.tool?.parameters ?? {}),
  };
}

/** Whatever a plugin throws is a failure of its infrastructure. */
async function failingAs<T>(tool: string, signal: AbortSignal, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    const reason = messageOf(error);
    throw new EverturnError("TOOL_FAILED", { tool, reason }, { cause: error });
  }
}
