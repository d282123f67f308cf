import { pathToFileURL } from "node:url";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { displayPath } from "../../base/validation/place.ts";
import type { DatasetPlugin } from "../../contracts/dataset.ts";
import type { PluginManifest } from "../../contracts/generated/plugin.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { AgentLoop } from "../../contracts/loop.ts";
import type { PluginSource, ResolvedLoop, ResolvedPlugin } from "../../contracts/plan.ts";
import type { PolicyPlugin } from "../../contracts/policy.ts";
import type { GroupRewardPlugin, RewardPlugin } from "../../contracts/reward.ts";
import type { ToolPlugin } from "../../contracts/tool.ts";
import type { TrackerPlugin } from "../../contracts/tracker.ts";
import type { TrainerPlugin } from "../../contracts/trainer.ts";
import type { LossFunction } from "../../engine/learning/loss-function.ts";
import { foreignTool } from "./foreign/foreign-tool.ts";

type Kind = PluginManifest["kind"];

/** The functions that the default export of each kind must have. */
const required: Record<Kind, readonly string[]> = {
  tool: ["execute"],
  reward: [],
  dataset: ["load"],
  policy: ["initialize", "open"],
  trainer: ["open"],
  loss: [],
  loop: [],
  tracker: ["open"],
  environment: ["load", "score"],
};

/** The functions that a plugin with this manifest must have. */
export function requiredFunctions({ kind, tool, reward }: PluginManifest): string[] {
  return [
    ...required[kind],
    ...(kind === "reward" ? [reward?.group === true ? "scoreGroup" : "score"] : []),
    ...(tool?.stateful ? ["create", "release"] : []),
    ...(tool?.recovery === "snapshot" ? ["snapshot", "restore"] : []),
    ...(tool?.dynamic === true ? ["functions"] : []),
    ...(tool?.checksTasks === true ? ["refusal"] : []),
  ];
}

/** The signatures of plugins whose default export is a function. */
const signatures: Partial<Record<Kind, string>> = {
  loop: "an async function (context) => outcome",
  loss: "a function (tokens, config) => losses",
};

/** Imports a tool plugin. This and the other loaders throw PLUGIN_ENTRY_FAILED, PLUGIN_EXPORT_INVALID. */
export async function loadTool(plugin: ResolvedPlugin): Promise<ToolPlugin<unknown>> {
  const functions = requiredFunctions(plugin.manifest);
  return load(plugin, (value): value is ToolPlugin<unknown> => hasAll(value, functions), functions);
}

/** Imports a reward plugin. */
export async function loadReward(plugin: ResolvedPlugin): Promise<RewardPlugin> {
  const functions = requiredFunctions(plugin.manifest);
  return load(plugin, (value): value is RewardPlugin => hasAll(value, functions), functions);
}

/** Imports a group reward plugin. */
export async function loadGroupReward(plugin: ResolvedPlugin): Promise<GroupRewardPlugin> {
  const functions = requiredFunctions(plugin.manifest);
  return load(plugin, (value): value is GroupRewardPlugin => hasAll(value, functions), functions);
}

/** Imports a dataset plugin. */
export async function loadDataset(plugin: ResolvedPlugin): Promise<DatasetPlugin> {
  return load(plugin, (value): value is DatasetPlugin => hasAll(value, required.dataset));
}

/** Imports a policy plugin. */
export async function loadPolicy(plugin: ResolvedPlugin): Promise<PolicyPlugin> {
  return load(plugin, (value): value is PolicyPlugin => hasAll(value, required.policy));
}

/** Imports a trainer plugin. */
export async function loadTrainer(plugin: ResolvedPlugin): Promise<TrainerPlugin> {
  return load(plugin, (value): value is TrainerPlugin => hasAll(value, required.trainer));
}

/** Imports a tracker plugin. */
export async function loadTracker(plugin: ResolvedPlugin): Promise<TrackerPlugin> {
  return load(plugin, (value): value is TrackerPlugin => hasAll(value, required.tracker));
}

/** Imports a loss plugin. */
export async function loadLoss(plugin: ResolvedPlugin): Promise<LossFunction> {
  return load(plugin, (value): value is LossFunction => typeof value === "function");
}

/** Imports a loop plugin's workflow code outside of a workflow, to check that it exports an agent loop. */
export async function loadLoop(plugin: ResolvedLoop): Promise<AgentLoop> {
  const workflow = { ...plugin, entry: plugin.workflow };
  return load(workflow, (value): value is AgentLoop => typeof value === "function");
}

async function load<Plugin>(
  { name, entry, manifest: { kind }, source }: ResolvedPlugin,
  isPlugin: (value: unknown) => value is Plugin,
  functions: readonly string[] = required[kind],
): Promise<Plugin> {
  const file = displayPath(entry);
  const exported = (await importModule(name, entry, file))[source?.export ?? "default"];
  const { positions } = source ?? {};
  const value =
    positions !== undefined && isFunction(exported)
      ? functionTool(exported, positions)
      : kind === "tool"
        ? (foreignTool(exported, name) ?? exported)
        : exported;
  if (isPlugin(value)) return value;
  const missing = functions.filter((one) => !hasAll(value, [one]));
  const signature = signatures[kind];
  const reason =
    value === undefined ? "is missing" : signature ? "is not a function" : `lacks ${list(missing)}`;
  const expected = signature ?? `an object with ${list(functions)}`;
  throw new EverturnError("PLUGIN_EXPORT_INVALID", { name, file, reason, kind, expected });
}

async function importModule(name: string, entry: string, file: string): Promise<Record<string, unknown>> {
  try {
    return await import(pathToFileURL(entry).href);
  } catch (cause) {
    const reason = messageOf(cause);
    throw new EverturnError("PLUGIN_ENTRY_FAILED", { name, file, reason }, { cause });
  }
}

function isFunction(value: unknown): value is (...values: never[]) => unknown {
  return typeof value === "function";
}

function hasAll(value: unknown, functions: readonly string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  return functions.every((name) => typeof Reflect.get(value, name) === "function");
}

function list(functions: readonly string[]): string {
  return functions.map((name) => `${name}()`).join(", ");
}

/** Wraps a plain function as a tool. `positions` maps each argument to its position. */
function functionTool(
  called: (...values: never[]) => unknown,
  positions: NonNullable<PluginSource["positions"]>,
): ToolPlugin {
  return { execute: async (given) => Reflect.apply(called, undefined, valuesOf(given, positions)) };
}

function valuesOf(given: JsonObject, positions: NonNullable<PluginSource["positions"]>): unknown[] {
  if (positions === "object") return [given];
  return positions.flatMap((name): unknown[] => {
    if (!name.startsWith("...")) return [given[name]];
    const rest = given[name.slice(3)];
    return Array.isArray(rest) ? rest : [];
  });
}
