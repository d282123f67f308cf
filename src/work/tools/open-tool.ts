import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { ObservationLimit, OfferedFunction, ResolvedTool } from "../../contracts/plan.ts";
import { toolFunctions, toolName } from "../../plugin/registry/tool-functions.ts";
import { argumentsValidator } from "../../plugin/registry/validate-arguments.ts";
import { openService, type Service } from "./service.ts";
import type { ToolHost } from "./tool-host.ts";
import type { ToolThread } from "./tool-thread.ts";

/** A tool of a run, ready to be called. */
export interface OpenTool extends ToolThread, Service {
  name: string;
  config: JsonObject;
  /** Each trajectory has its own instance. */
  isStateful: boolean;
  recovery: "snapshot" | "replay" | "fail";
  /** A restored instance may take over what a dead worker's instance held. */
  reattaches: boolean;
  /** Limits of this tool that differ from those of other tools. */
  observations: Partial<ObservationLimit>;
  /** The functions that the policy may call, by the policy's names. */
  functions: ReadonlyMap<string, OpenFunction>;
}

/** A function of a tool. */
export interface OpenFunction {
  /** The tool's own name for it. */
  own: string;
  /** Describes the problem in the model's arguments to the model. Undefined if there is none. */
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
    reattaches: manifest.tool?.reattaches === true,
    functions: new Map(toolFunctions(resolved).map((one) => [one.name, openFunction(one)])),
  };
}

/** The function of a tool with the policy's name `called`. Throws TOOL_FAILED if it does not exist. */
export function functionOf({ name, functions }: OpenTool, called: string): OpenFunction {
  const found = functions.get(called);
  if (found !== undefined) return found;
  throw new EverturnError("TOOL_FAILED", { tool: name, reason: `it has no function ${called}` });
}

/** Arguments must match the schema that the policy saw first, and then the tool's own. */
function openFunction({ name, parameters, own }: OfferedFunction): OpenFunction {
  const told = argumentsValidator(parameters);
  if (own === undefined || own.parameters === parameters) return { own: own?.name ?? name, validate: told };
  const taken = argumentsValidator(own.parameters);
  return { own: own.name, validate: (given) => told(given) ?? taken(given) };
}
