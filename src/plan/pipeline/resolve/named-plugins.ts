import { dirname, resolve } from "node:path";
import { manifestAs } from "../../../plugin/registry/alias.ts";
import { discoverPlugins } from "../../../plugin/registry/discover.ts";
import { checkManifest } from "../../../plugin/registry/manifest.ts";
import type { NamedPlugin } from "../read/composed-schema.ts";
import { readExtended } from "../read/read-extended.ts";
import { slotsOf } from "../read/slots.ts";
import { resolvePlugins } from "./resolve-plugins.ts";

/**
 * Returns the plugins that pipelines in `folder` may name and whose manifests are usable, and the plugins
 * that `pipeline` names by path. Throws the errors of reading it.
 */
export async function namedPlugins(options: {
  folder: string;
  pipeline?: string | undefined;
  pluginFolders: readonly string[];
}): Promise<NamedPlugin[]> {
  const { pipeline, pluginFolders } = options;
  const folder = pipeline === undefined ? options.folder : dirname(resolve(pipeline));
  const found = discoverPlugins(folder, pluginFolders).flatMap(({ name, folder: home }): NamedPlugin[] => {
    const { manifest: whole } = checkManifest(home);
    if (whole === undefined) return [];
    const { manifest } = manifestAs(whole, name);
    return [{ reference: manifest.name, manifest }];
  });
  if (pipeline === undefined) return found;
  const document = readExtended(resolve(pipeline));
  const { plugins } = await resolvePlugins(document, folder, pluginFolders);
  const references = new Map(slotsOf(document.value).map(({ pointer, reference }) => [pointer, reference]));
  const used = [...plugins].map(([pointer, { name, manifest }]) => ({
    reference: references.get(pointer) ?? name,
    manifest,
  }));
  const all = new Map(
    [...found, ...used].map((plugin) => [`${plugin.manifest.kind} ${plugin.reference}`, plugin]),
  );
  return [...all.values()];
}
