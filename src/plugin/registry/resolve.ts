import { existsSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import packageJson from "../../../package.json" with { type: "json" };
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { upwards } from "../../base/processes/own-module.ts";
import { nearest, suggestion } from "../../base/validation/nearest.ts";
import { displayPath, type Place } from "../../base/validation/place.ts";
import type { Problem } from "../../base/validation/problem.ts";
import type { PluginManifest } from "../../contracts/generated/plugin.ts";
import { manifestAs, type NamedManifest } from "./alias.ts";
import { type FoundPlugin, hasManifest, manifestName, packageOf } from "./discover.ts";
import { inRange } from "./engine-range.ts";
import { environmentPart } from "./environment-part.ts";
import { checkManifest } from "./manifest.ts";

const engine = packageJson.version;

/** A place in a pipeline that names a plugin. */
export interface PluginSlot {
  /** The reference in the pipeline: a plugin's name, its package's name, or a path. */
  readonly reference: string;
  /** Default: any kind. */
  readonly kind?: PluginManifest["kind"] | undefined;
  /** The slot's name in messages, such as dataset.train. */
  readonly where: string;
  /** The place of the reference. */
  readonly place: Place;
}

/**
 * A usable plugin's folder, its package's name if it has one, and its manifest under the name in the slot, or
 * the reason why none was found.
 */
export type Resolution =
  | (NamedManifest & {
      readonly folder: string;
      readonly package: string | undefined;
      readonly problems: readonly Problem[];
    })
  | { readonly manifest?: undefined; readonly problems: readonly Problem[] };

/** The names of a plugin. */
interface Called {
  name: string;
  aliasOf?: string | undefined;
  package: string | undefined;
}

/**
 * Finds the plugin that `slot` names and checks its manifest, kind and engine version. An environment also serves as a
 * data set, a tool or a reward. Paths are relative to `base`.
 */
export function resolvePlugin(slot: PluginSlot, found: readonly FoundPlugin[], base: string): Resolution {
  const at = slot.place.text;
  const fail = (error: EverturnError): Resolution => ({ problems: [{ place: slot.place, error }] });
  const located = /^[./]/.test(slot.reference)
    ? folderAt(slot.reference, base, at)
    : pluginNamed(slot, found, base);
  if (located instanceof EverturnError) return fail(located);

  const { folder } = located;
  const { manifest: whole, problems } = checkManifest(folder);
  if (whole === undefined) return { problems };
  const named = manifestAs(whole, located.name ?? whole.name);
  const { kind, version } = named.manifest;
  const packaged = packageOf(folder);
  const name = fullName({
    name: named.manifest.name,
    aliasOf: named.alias?.of,
    package: slot.reference === packaged ? packaged : undefined,
  });
  const part = environmentPart(named.manifest, slot.kind);
  if (slot.kind !== undefined && kind !== slot.kind && part === undefined) {
    const hint = suggestion("", namesOf(found, slot.kind), `Plugins of kind ${slot.kind}`);
    const params = { at, where: slot.where, expected: slot.kind, name, actual: kind, hint };
    return fail(new EverturnError("PLUGIN_WRONG_KIND", params));
  }
  const range = whole.engines.everturn;
  if (!inRange(engine, range)) {
    return fail(new EverturnError("PLUGIN_ENGINE_MISMATCH", { at, name, version, range, engine }));
  }
  return { ...named, manifest: part ?? named.manifest, folder, package: packaged, problems: [] };
}

/** A name for messages. An alias appears with the plugin that it stands for, another name with its package. */
function fullName({ name, aliasOf, package: named }: Called): string {
  if (aliasOf !== undefined) return `${name} (an alias of ${aliasOf})`;
  return named === undefined || name === named ? name : `${name} of the package ${named}`;
}

function folderAt(
  reference: string,
  base: string,
  at: string,
): { folder: string; name?: string } | EverturnError {
  const folder = resolve(base, reference);
  if (hasManifest(folder)) return { folder: realpathSync(folder) };
  const hint = existsSync(folder)
    ? `The folder ${displayPath(folder)} has no ${manifestName}.`
    : `There is no folder ${displayPath(folder)}; a plugin's path is relative to the pipeline.`;
  return new EverturnError("PLUGIN_NOT_FOUND", { at, name: reference, hint });
}

/** Returns the plugin with a name. A plugin's own name takes precedence over another's alias. */
function pluginNamed(
  slot: PluginSlot,
  found: readonly FoundPlugin[],
  base: string,
): FoundPlugin | EverturnError {
  const { reference: name, kind, place } = slot;
  const at = place.text;
  const all = found.filter((plugin) => plugin.name === name || plugin.package === name);
  const own = all.filter(({ aliasOf }) => aliasOf === undefined);
  const [first, second] = own.length > 0 ? own : all;
  if (first !== undefined && second !== undefined) {
    return new EverturnError("PLUGIN_AMBIGUOUS", { at, name, first: told(first), second: told(second) });
  }
  if (first !== undefined) return first;
  const ofKind = kind === undefined ? "" : ` of kind ${kind}`;
  const hint =
    packageHint(name, found, base) ||
    suggestion(name, namesOf(found, kind), `Plugins${ofKind}`) ||
    `No plugin${ofKind} was found in plugins/, node_modules/ or --plugins; give the path of its folder.`;
  return new EverturnError("PLUGIN_NOT_FOUND", { at, name, hint });

  function told(plugin: FoundPlugin): string {
    return `${displayPath(plugin.folder)}${plugin.name === name ? "" : ` (${fullName(plugin)})`}`;
  }
}

/**
 * Suggests what to do about a package name that no plugin has. Empty if no such package is installed and the
 * name has no scope.
 */
function packageHint(name: string, found: readonly FoundPlugin[], base: string): string {
  const places = upwards(base).map((parent) => join(parent, "node_modules", name));
  const folder = places.find((place) => existsSync(join(place, "package.json")));
  if (folder !== undefined)
    return `The package is installed in ${displayPath(folder)}, but has no ${manifestName}.`;
  if (!/^@[^/]+\/[^/]+$/.test(name)) return "";
  const near = nearest(
    name,
    found.flatMap((plugin) => plugin.package ?? []),
  );
  const question = near === undefined ? "" : `Did you mean “${near}”? `;
  return `${question}No package of this name is installed: \`npm install ${name}\`.`;
}

function namesOf(found: readonly FoundPlugin[], kind: PluginSlot["kind"]): string[] {
  return found.filter((plugin) => kind === undefined || plugin.kind === kind).map(({ name }) => name);
}
