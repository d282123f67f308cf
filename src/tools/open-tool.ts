import type { JsonObject } from "../contracts/json.ts";
import type { ObservationLimit, ResolvedTool } from "../contracts/plan.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { argumentsValidator } from "../plugins/validate-arguments.ts";
import type { ToolHost } from "./host.ts";
import { openService, type Service } from "./service.ts";
import type { ToolThread } from "./tool-thread.ts";

/** A tool of a run, ready to be called. */
export interface OpenTool extends ToolThread, Service {
  name: string;
  config: JsonObject;
  /** Each trajectory has an instance of it. */
  isStateful: boolean;
  recovery: "snapshot" | "replay" | "fail";
  /** What is otherwise for this tool than for others. */
  observations: Partial<ObservationLimit>;
  /** What is wrong with the model's arguments, said to the model; undefined if nothing is. */
  validate(parameters: JsonObject): string | undefined;
}

/** Opens a tool whose thread has started, on its host. */
export function openTool(resolved: ResolvedTool, thread: ToolThread, host: ToolHost): OpenTool {
  const { config, manifest, observations = {} } = resolved;
  const { plugin } = thread;
  const tool = manifest.tool?.name ?? resolved.name;
  const gaveUp: Service["gaveUp"] = (times, reason, cause) =>
    new EverturnError("TOOL_GAVE_UP", { tool, times, reason }, { cause });
  if (plugin.probe !== undefined) host.breaker.probeWith(async () => plugin.probe?.(config));
  return {
    ...thread,
    ...openService(resolved, host, gaveUp),
    ...{ name: tool, config, observations },
    isStateful: manifest.tool?.stateful ?? false,
    recovery: manifest.tool?.recovery ?? "fail",
    validate: argumentsValidator(manifest.tool?.parameters ?? {}),
  };
}
