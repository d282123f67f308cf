import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { ObservationLimit, OfferedFunction, ResolvedTool } from "../../contracts/plan.ts";
import { toolFunctions, toolName } from "../../plugin/registry/tool-functions.ts";
import { argumentsValidator } from "../../plugin/registry/validate-arguments.ts";
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
  /** What the policy may call of it, by the name that it has for it. */
  functions: ReadonlyMap<string, OpenFunction>;
}

/** A function of a tool. */
export interface OpenFunction {
  /** The name that the tool has for it. */
  own: string;
  /** What is wrong with the model's arguments, said to the model; undefined if nothing is. */
  validate(parameters: JsonObject): string | undefined;
}

/** Opens a tool whose thread has started, on its host. */
export function openTool(resolved: ResolvedTool, thread: ToolThread, host: ToolHost): OpenTool {
  const { config, manifest, observations = {} } = resolved;
  const { plugin } = thread;
  const tool = toolName(resolved);
  const gaveUp: Service["gaveUp"] = (times, reason, cause) =>
    new EverturnError("TOOL_GAVE_UP", { tool, times, reason }, { cause });
  if (plugin.probe !== undefined) host.breaker.probeWith(async () => plugin.probe?.(config));
  return {
    ...thread,
    ...openService(resolved, host, gaveUp),
    name: tool,
    config,
    observations,
    isStateful: manifest.tool?.stateful ?? false,
    recovery: manifest.tool?.recovery ?? "fail",
    functions: new Map(toolFunctions(resolved).map((one) => [one.name, openFunction(one)])),
  };
}

/** The function of a tool that the policy has this name for. Throws TOOL_FAILED if there is none. */
export function functionOf({ name, functions }: OpenTool, called: string): OpenFunction {
  const found = functions.get(called);
  if (found !== undefined) return found;
  throw new EverturnError("TOOL_FAILED", { tool: name, reason: `it has no function ${called}` });
}

/** What the policy was told goes first; what the tool takes holds all the same. */
function openFunction({ name, parameters, own }: OfferedFunction): OpenFunction {
  const told = argumentsValidator(parameters);
  if (own === undefined || own.parameters === parameters) return { own: own?.name ?? name, validate: told };
  const taken = argumentsValidator(own.parameters);
  return { own: own.name, validate: (given) => told(given) ?? taken(given) };
}
