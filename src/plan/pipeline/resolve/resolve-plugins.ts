import { dirname, join } from "node:path";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { messageOf } from "../../../base/errors/message-of.ts";
import { defined } from "../../../base/records/defined.ts";
import type { Place } from "../../../base/validation/place.ts";
import { child, type Pointer, pathText } from "../../../base/validation/pointer.ts";
import type { Problem } from "../../../base/validation/problem.ts";
import { placeOf, type SourceDocument } from "../../../base/validation/source-document.ts";
import type { OfferedFunction, ResolvedPlugin } from "../../../contracts/plan.ts";
import { fileReference } from "../../../plugin/define/reference.ts";
import { resolveFile } from "../../../plugin/define/resolve-file.ts";
import { checkConfig } from "../../../plugin/registry/config.ts";
import { discoverPlugins } from "../../../plugin/registry/discover.ts";
import { resolvePlugin } from "../../../plugin/registry/resolve.ts";
import { slotsOf } from "../read/slots.ts";
import { ownFunctions } from "./asked-functions.ts";
import { writtenAt } from "./expand-environment.ts";
import { offeredFunctions } from "./offered-functions.ts";

/**
 * The plugins of a pipeline by the pointer of their slot, and the problems of plugins that can't be resolved.
 */
export interface ResolvedPlugins {
  readonly plugins: ReadonlyMap<Pointer, ResolvedPlugin>;
  readonly problems: readonly Problem[];
}

/**
 * Finds each slot's plugin and checks its configuration. Fills in defaults and absolute paths. A plugin in a
 * single module file is loaded in a separate thread.
 */
export async function resolvePlugins(
  document: SourceDocument,
  folder: string,
  pluginFolders: readonly string[],
): Promise<ResolvedPlugins> {
  const found = discoverPlugins(folder, pluginFolders);
  const slots = slotsOf(document.value).map((slot) => {
    const { kind, reference } = slot;
    const pointer = writtenAt(document, slot.pointer);
    const place = placeOf(document, child(pointer, "plugin"), "value");
    const file = fileReference(reference);
    const resolution =
      file === undefined
        ? resolvePlugin({ reference, kind, where: pathText(pointer), place }, found, folder)
        : resolveFile({ kind, reference: file, place, base: folder });
    return { ...slot, written: pointer, resolution };
  });
  const plugins = new Map<Pointer, ResolvedPlugin>();
  const problems: Problem[] = [];
  for (const { pointer, written, config, name: tool, functions: uses, resolution: resolving } of slots) {
    const resolution = await resolving;
    problems.push(...resolution.problems);
    if (resolution.manifest === undefined) continue;
    const { manifest } = resolution;
    const { whole, problems: wrong } = checkConfig(
      config,
      resolution,
      document,
      child(written, "config"),
      folder,
    );
    problems.push(...wrong);
    const home = "folder" in resolution ? resolution.folder : dirname(resolution.file);
    const entry = join(home, manifest.entry ?? manifest.workflow ?? "");
    const { name, version } = manifest;
    const origin =
      "source" in resolution
        ? { source: resolution.source }
        : defined<Pick<ResolvedPlugin, "package">>({ package: resolution.package });
    const plugin: ResolvedPlugin = {
      name,
      version,
      folder: home,
      entry,
      manifest,
      config: whole,
      ...origin,
    };
    if (tool !== undefined) plugin.tool = tool;
    plugins.set(pointer, plugin);
    if (wrong.length > 0 || manifest.tool === undefined) continue;
    const told = await functionsAt(plugin, placeOf(document, child(written, "plugin"), "value"));
    problems.push(...told.problems);
    const at = child(written, "functions");
    const offered = offeredFunctions(told.functions, { name: tool, uses, document, pointer: at });
    problems.push(...(told.problems.length > 0 ? [] : offered.problems));
    if (manifest.tool.dynamic || uses !== undefined || tool !== undefined)
      plugin.functions = offered.functions;
  }
  return { plugins, problems };
}

/** A tool's own functions, or the reason why it does not list them. */
async function functionsAt(
  plugin: ResolvedPlugin,
  place: Place,
): Promise<{ functions: OfferedFunction[]; problems: Problem[] }> {
  try {
    return { functions: await ownFunctions(plugin), problems: [] };
  } catch (cause) {
    const params = { at: place.text, reason: messageOf(cause) };
    return {
      functions: [],
      problems: [{ place, error: new EverturnError("PLUGIN_UNUSABLE", params, { cause }) }],
    };
  }
}
