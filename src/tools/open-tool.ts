import type { JsonObject } from "../contracts/json.ts";
import type { ResolvedTool } from "../contracts/plan.ts";
import { argumentsValidator } from "../plugins/validate-arguments.ts";
import type { ToolHost } from "./host.ts";
import { createSlots, type Slots } from "./slots.ts";
import type { ToolThread } from "./tool-thread.ts";

/** A tool of a run, ready to be called. */
export interface OpenTool extends ToolThread {
  name: string;
  config: JsonObject;
  recovery: "snapshot" | "replay" | "fail";
  maximumAttempts: number;
  host: ToolHost;
  slots: Slots | undefined;
  /** What is wrong with the model's arguments, said to the model; undefined if nothing is. */
  validate(parameters: JsonObject): string | undefined;
}

/** Opens a tool whose thread has started, on its host. */
export function openTool(resolved: ResolvedTool, thread: ToolThread, host: ToolHost): OpenTool {
  const { config, concurrency, retry, manifest } = resolved;
  const { plugin } = thread;
  if (plugin.probe !== undefined) host.breaker.probeWith(async () => plugin.probe?.(config));
  return {
    ...thread,
    ...{ name: manifest.tool?.name ?? resolved.name, config, host },
    recovery: manifest.tool?.recovery ?? "fail",
    maximumAttempts: retry.maximumAttempts,
    slots: concurrency === undefined ? undefined : createSlots(concurrency),
    validate: argumentsValidator(manifest.tool?.parameters ?? {}),
  };
}
