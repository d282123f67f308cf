import { existsSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { type Place, placeAt } from "../../base/validation/place.ts";
import type { Problem } from "../../base/validation/problem.ts";
import type { SourceDocument } from "../../base/validation/source-document.ts";
import type { PluginManifest } from "../../contracts/generated/plugin.ts";
import type { JsonObject } from "../../contracts/json.ts";
import { isObject } from "../../contracts/json.ts";
import type { ResolvedPlugin } from "../../contracts/plan.ts";
import { ownFunctions } from "../../plan/pipeline/resolve/asked-functions.ts";
import { fileReference } from "../../plugin/define/reference.ts";
import { resolveFile } from "../../plugin/define/resolve-file.ts";
import { checkConfig } from "../../plugin/registry/config.ts";
import { discoverPlugins, hasManifest } from "../../plugin/registry/discover.ts";
import { resolvePlugin } from "../../plugin/registry/resolve.ts";

/** The object of the checks: a plugin as a pipeline would resolve it, or the problems that prevent this. */
export type Subject = { readonly plugin: ResolvedPlugin } | { readonly problems: readonly Problem[] };

/**
 * Resolves a reference to a plugin (a file, a folder or a name) like a pipeline in `base`. Throws PLUGIN_NOT_FOUND
 * if nothing has that name.
 */
export async function openSubject(given: string, base: string, config?: JsonObject): Promise<Subject> {
  const reference = pathLike(given, base);
  const place: Place = placeAt(given, "", 0);
  const at = { ...place, text: given };
  const file = fileReference(reference);
  const found =
    file === undefined
      ? resolvePlugin({ reference, where: given, place: at }, discoverPlugins(base), base)
      : await resolveFile({ reference: file, place: at, base });
  if (found.manifest === undefined) {
    const [first] = found.problems;
    if (first?.error.code === "PLUGIN_NOT_FOUND") throw first.error;
    return { problems: found.problems };
  }
  const { manifest } = found;
  const folder = "folder" in found ? found.folder : dirname(found.file);
  const settings = structuredClone(config ?? exampleOf(manifest.config));
  const document: SourceDocument = {
    file: "config",
    source: "",
    value: { config: settings },
    offsets: new Map(),
  };
  const { whole, problems: wrong } = checkConfig(settings, found, document, "/config", base);
  if (wrong.length > 0) {
    const reason = wrong.map(({ error }) => error.message.replace(/^config:1:1: /, "")).join(" ");
    const what = config === undefined ? "no configuration" : "this configuration";
    const hint =
      "Pass one as `config` in the options or as --config, or add one to `examples` in its schema.";
    const plain = reason.replace(/\.$/, "");
    throw new EverturnError("PLUGIN_CASE_INVALID", { plugin: manifest.name, what, reason: plain, hint });
  }
  const entry = join(folder, manifest.entry ?? manifest.workflow ?? "");
  const { name, version } = manifest;
  const source = "source" in found ? { source: found.source } : {};
  const plugin = { name, version, folder, entry, manifest, config: whole, ...source };
  if (manifest.tool?.dynamic !== true) return { plugin };
  try {
    return { plugin: { ...plugin, functions: await ownFunctions(plugin) } };
  } catch (cause) {
    const error = new EverturnError("PLUGIN_UNUSABLE", { at: given, reason: messageOf(cause) }, { cause });
    return { problems: [{ place: at, error }] };
  }
}

/** Adds ./ to a path, which may be written without it here. A folder's path is made relative. */
function pathLike(given: string, base: string): string {
  const [file = given] = given.split("#");
  const path = resolve(base, file);
  const isThere =
    existsSync(path) &&
    (statSync(path).isFile() || hasManifest(path) || existsSync(join(path, "package.json")));
  if (!isThere || /^\.{0,2}\//.test(given)) return given;
  return `./${relative(base, path)}${given.slice(file.length)}`;
}

function exampleOf(schema: PluginManifest["config"]): JsonObject {
  const examples = isObject(schema) && Array.isArray(schema.examples) ? schema.examples : [];
  return isObject(examples[0]) ? examples[0] : {};
}
