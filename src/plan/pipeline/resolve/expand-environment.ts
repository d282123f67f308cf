import { resolve } from "node:path";
import { defined } from "../../../base/records/defined.ts";
import { checkValue } from "../../../base/validation/check-value.ts";
import { type Pointer, valueAt } from "../../../base/validation/pointer.ts";
import { refusal } from "../../../base/validation/problem.ts";
import { placeOf, type SourceDocument } from "../../../base/validation/source-document.ts";
import type { PluginManifest } from "../../../contracts/generated/plugin.ts";
import { isObject, type JsonObject } from "../../../contracts/json.ts";
import { isAgentLoop } from "../../../contracts/plan-loops.ts";
import { noConfig } from "../../../plugin/registry/config.ts";
import { discoverPlugins } from "../../../plugin/registry/discover.ts";
import { resolvePlugin } from "../../../plugin/registry/resolve.ts";
import { merged } from "../read/merged.ts";

/**
 * Adds the parts of a pipeline that its `environment` supplies: its tasks as `dataset`, its tool, its reward and its
 * loop. The pipeline's own data sets and loop take precedence. Its own tools come before the environment's, and its own
 * rewards after. An environment's agent receives its configuration, and depends on its host. Steps that train on
 * examples get no training tasks. Throws WRONG_CONFIGURATION if the environment can't
 * be used.
 */
export function expandEnvironment(
  document: SourceDocument,
  folder: string,
  pluginFolders: readonly string[],
): SourceDocument {
  const { value } = document;
  const use = valueAt(value, "/environment");
  if (!isObject(value) || !isObject(use)) return document;
  const { plugin, config = {}, train, validation, functions, observations, ...calls } = use;
  if (typeof plugin !== "string") return document;
  const place = placeOf(document, "/environment/plugin", "value");
  const slot = { reference: plugin, kind: "environment", where: "environment", place } as const;
  const found = resolvePlugin(slot, discoverPlugins(folder, pluginFolders), folder);
  if (found.manifest === undefined) throw refusal(document.file, found.problems);
  const { manifest } = found;
  const host = calls.host ?? manifest.name;

  const tasks = (over: unknown) => ({ plugin, config: structuredClone(merged(config, over ?? {})) });
  const own = isObject(value.dataset) ? value.dataset : {};
  const isTrainedOnTasks = value.sft === undefined && value.dpo === undefined;
  const dataset = defined<object>({
    train: isTrainedOnTasks ? tasks(train) : undefined,
    validation: tasks(validation),
    ...own,
  });
  const reward = { plugin, config: structuredClone(config), ...calls, host };
  const tool = defined<object>({ ...structuredClone(reward), functions, observations });
  const tools: unknown[] = Array.isArray(value.tools) ? value.tools : [];
  const loop = manifest.loop && loopOf(manifest.loop, found.folder);
  if (loop !== undefined && isAgentLoop({ name: loop.plugin })) {
    const settings = structuredClone(isObject(config) ? config : {});
    checkValue(manifest.config ?? noConfig, settings, folder); // fills in defaults; the parts report its problems
    Object.assign(loop.config, { settings, host });
  }
  const others: unknown[] = value.reward === undefined ? [] : [value.reward].flat();
  const expanded = defined<object>({
    ...value,
    dataset,
    tools: manifest.tool === undefined ? tools : [...tools, tool],
    reward: others.length === 0 ? reward : [reward, ...others],
    loop: loop === undefined ? value.loop : merged(loop, value.loop ?? {}),
  });
  return others.length === 0
    ? { ...document, value: expanded }
    : { ...movedRewards(document, Array.isArray(value.reward)), value: expanded };
}

interface EnvironmentLoop extends JsonObject {
  plugin: string;
  config: JsonObject;
}

/** The loop of an environment, with paths that are relative to its manifest made absolute. */
function loopOf(
  { plugin, config = {} }: NonNullable<PluginManifest["loop"]>,
  folder: string,
): EnvironmentLoop {
  const settings = Object.entries(config).map(([key, value]) => {
    const isPath = typeof value === "string" && value.startsWith("./");
    return [key, isPath ? resolve(folder, value) : value];
  });
  return { plugin, config: Object.fromEntries(settings) };
}

/** Moves the places of a pipeline's own rewards behind the environment's. */
function movedRewards(document: SourceDocument, isList: boolean): SourceDocument {
  const moved = (pointer: Pointer): Pointer => {
    if (!isList) return pointer.replace(/^\/reward(?=\/|$)/, "/reward/1");
    return pointer.replace(/^\/reward\/(\d+)/, (_, index) => `/reward/${Number(index) + 1}`);
  };
  const all = <Of>(places: ReadonlyMap<Pointer, Of>) =>
    new Map([...places].map(([pointer, place]) => [moved(pointer), place]));
  const { offsets, elsewhere = new Map() } = document;
  return { ...document, offsets: all(offsets), elsewhere: all(elsewhere) };
}

/** The place in a pipeline where the use of a plugin at `pointer` was written: there, or at its environment. */
export function writtenAt({ value, offsets, elsewhere }: SourceDocument, pointer: Pointer): Pointer {
  const plugin = valueAt(value, "/environment/plugin");
  const isOwn = offsets.has(pointer) || elsewhere?.has(pointer) === true;
  return !isOwn && plugin !== undefined && valueAt(value, `${pointer}/plugin`) === plugin
    ? "/environment"
    : pointer;
}
