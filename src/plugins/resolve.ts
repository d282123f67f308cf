import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import type { PluginManifest } from "../contracts/generated/plugin.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { suggestion } from "../validation/nearest.ts";
import { displayPath, type Place } from "../validation/place.ts";
import type { Problem } from "../validation/problem.ts";
import { type FoundPlugin, hasManifest, manifestName } from "./discover.ts";
import { inRange } from "./engine-range.ts";
import { checkManifest } from "./manifest.ts";

const engine = packageJson.version;

/** A place of a pipeline that names a plugin. */
export interface PluginSlot {
  /** What the pipeline wrote: a name or a path. */
  readonly reference: string;
  readonly kind: PluginManifest["kind"];
  /** How messages name the slot, such as dataset.train. */
  readonly where: string;
  /** Where the reference stands. */
  readonly place: Place;
}

/** A usable plugin's folder and manifest, or why there is none. */
export type Resolution =
  | { readonly folder: string; readonly manifest: PluginManifest; readonly problems: readonly Problem[] }
  | { readonly manifest?: undefined; readonly problems: readonly Problem[] };

/** Finds the plugin that `slot` names and checks its manifest, kind, and engine version. `base` is for paths. */
export function resolvePlugin(slot: PluginSlot, found: readonly FoundPlugin[], base: string): Resolution {
  const at = slot.place.text;
  const fail = (error: EverturnError): Resolution => ({ problems: [{ place: slot.place, error }] });
  const located = /^[./]/.test(slot.reference)
    ? folderAt(slot.reference, base, at)
    : folderNamed(slot, found, at);
  if (typeof located !== "string") return fail(located);

  const { manifest, problems } = checkManifest(located);
  if (manifest === undefined) return { problems };
  const { name, kind, version } = manifest;
  if (kind !== slot.kind) {
    const hint = suggestion("", namesOf(found, slot.kind), `Plugins of kind ${slot.kind}`);
    const params = { at, where: slot.where, expected: slot.kind, name, actual: kind, hint };
    return fail(new EverturnError("PLUGIN_WRONG_KIND", params));
  }
  const range = manifest.engines.everturn;
  if (!inRange(engine, range)) {
    return fail(new EverturnError("PLUGIN_ENGINE_MISMATCH", { at, name, version, range, engine }));
  }
  return { folder: located, manifest, problems: [] };
}

function folderAt(reference: string, base: string, at: string): string | EverturnError {
  const folder = resolve(base, reference);
  if (hasManifest(folder)) return realpathSync(folder);
  const hint = existsSync(folder)
    ? `The folder ${displayPath(folder)} has no ${manifestName}.`
    : `There is no folder ${displayPath(folder)}; a plugin's path is relative to the pipeline.`;
  return new EverturnError("PLUGIN_NOT_FOUND", { at, name: reference, hint });
}

function folderNamed(slot: PluginSlot, found: readonly FoundPlugin[], at: string): string | EverturnError {
  const { reference: name, kind } = slot;
  const [first, second] = found.filter((plugin) => plugin.name === name);
  if (first !== undefined && second !== undefined) {
    const places = { first: displayPath(first.folder), second: displayPath(second.folder) };
    return new EverturnError("PLUGIN_AMBIGUOUS", { at, name, ...places });
  }
  if (first !== undefined) return first.folder;
  const hint =
    suggestion(name, namesOf(found, kind), `Plugins of kind ${kind}`) ||
    `No plugin of kind ${kind} was found in plugins/, node_modules/ or --plugins; give the path of its folder.`;
  return new EverturnError("PLUGIN_NOT_FOUND", { at, name, hint });
}

function namesOf(found: readonly FoundPlugin[], kind: string): string[] {
  return found.filter((plugin) => plugin.kind === kind).map(({ name }) => name);
}
