import { join } from "node:path";
import type { ResolvedPlugin } from "../contracts/plan.ts";
import { checkConfig } from "../plugins/config.ts";
import { discoverPlugins } from "../plugins/discover.ts";
import { resolvePlugin } from "../plugins/resolve.ts";
import { child, type Pointer, pathText } from "../validation/pointer.ts";
import type { Problem } from "../validation/problem.ts";
import { placeOf, type SourceDocument } from "../validation/source-document.ts";
import { slotsOf } from "./slots.ts";

/** The plugins of a pipeline by the pointer of their slot, and what is wrong with the others. */
export interface ResolvedPlugins {
  readonly plugins: ReadonlyMap<Pointer, ResolvedPlugin>;
  readonly problems: readonly Problem[];
}

/** Finds each slot's plugin and checks its configuration, into which it fills defaults and absolute paths. */
export function resolvePlugins(
  document: SourceDocument,
  folder: string,
  pluginFolders: readonly string[],
): ResolvedPlugins {
  const found = discoverPlugins(folder, pluginFolders);
  const plugins = new Map<Pointer, ResolvedPlugin>();
  const problems: Problem[] = [];
  for (const { pointer, kind, reference, config } of slotsOf(document.value)) {
    const place = placeOf(document, child(pointer, "plugin"), "value");
    const resolution = resolvePlugin({ reference, kind, where: pathText(pointer), place }, found, folder);
    problems.push(...resolution.problems);
    if (resolution.manifest === undefined) continue;
    const { manifest } = resolution;
    const wrong = checkConfig(config, manifest, document, child(pointer, "config"), folder);
    problems.push(...wrong);
    const entry = join(resolution.folder, manifest.entry ?? manifest.workflow ?? "");
    const { name, version } = manifest;
    plugins.set(pointer, { name, version, folder: resolution.folder, entry, manifest, config });
  }
  return { plugins, problems };
}
