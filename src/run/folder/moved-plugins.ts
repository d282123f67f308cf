import { dirname, join } from "node:path";
import { isSurelyThere } from "../../base/files/is-there.ts";
import { namesInSync } from "../../base/files/names-in.ts";
import { defined } from "../../base/records/defined.ts";
import { readText } from "../../base/validation/read-text.ts";
import type { PluginManifest } from "../../contracts/generated/plugin.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { Plan, ResolvedDataset, ResolvedLoop, ResolvedPlugin } from "../../contracts/plan.ts";

/**
 * A plan whose plugins are where they are today. A plugin that has since been merged into another one is gone: the plugin next to
 * its folder that has its name as an alias takes its place, with the options that the alias sets. A plugin that nobody replaces
 * stays, and fails where it is loaded.
 */
export function withMovedPlugins(plan: Plan): Plan {
  const { policy, dataset, tools, loop, loops, rewards, trainer, trackers } = plan;
  const { train, validation } = dataset;
  const known = new Map<string, Place | undefined>();
  const moved = <Plugin extends ResolvedPlugin>(plugin: Plugin): Plugin => {
    if (isSurelyThere(plugin.entry)) return plugin;
    const { name, folder } = plugin;
    if (!known.has(name)) known.set(name, placeOf(name, dirname(folder)));
    const place = known.get(name);
    if (place === undefined) return plugin;
    const { preset, ...paths } = place;
    return { ...plugin, ...paths, config: { ...plugin.config, ...preset } };
  };
  const movedLoop = (plugin: ResolvedLoop): ResolvedLoop => {
    const found = moved(plugin);
    return found === plugin ? plugin : { ...found, workflow: found.entry };
  };
  return defined<Plan>({
    ...plan,
    policy: moved(policy),
    dataset: defined<ResolvedDataset>({
      ...dataset,
      train: train && moved(train),
      validation: moved(validation),
    }),
    tools: tools.map(moved),
    loop: movedLoop(loop),
    loops: loops && Object.fromEntries(Object.entries(loops).map(([agent, one]) => [agent, movedLoop(one)])),
    rewards: rewards.map(moved),
    trainer: moved(trainer),
    trackers: trackers?.map(moved),
  });
}

/** Where a plugin is, and the options that its name sets. */
interface Place extends Pick<ResolvedPlugin, "folder" | "entry"> {
  preset: JsonObject;
}

/** The plugin in a folder of `parent` that has this alias; undefined if none has it. */
function placeOf(name: string, parent: string): Place | undefined {
  for (const one of namesInSync(parent).sort()) {
    const folder = join(parent, one);
    const { aliases = [], entry, workflow = "" } = manifestIn(folder);
    const alias = aliases.find((other) => other.name === name);
    if (alias !== undefined)
      return { folder, entry: join(folder, entry ?? workflow), preset: alias.preset ?? {} };
  }
  return undefined;
}

/** The manifest in a folder; an empty one if there is no readable one. */
function manifestIn(folder: string): Partial<PluginManifest> {
  try {
    return JSON.parse(readText(join(folder, "everturn.plugin.json")));
  } catch {
    return {}; // an error explains why once something names that plugin
  }
}
