import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import { nearest } from "../../base/validation/nearest.ts";
import { displayPath, type Place, placeAt } from "../../base/validation/place.ts";
import { child, type Pointer } from "../../base/validation/pointer.ts";
import type { Problem } from "../../base/validation/problem.ts";
import { type NodeOffsets, placeOf, type SourceDocument } from "../../base/validation/source-document.ts";
import type { PluginManifest } from "../../contracts/generated/plugin.ts";
import { isObject, type JsonObject } from "../../contracts/json.ts";
import type { PluginSource } from "../../contracts/plan.ts";
import { checkManifestDocument } from "../registry/manifest.ts";
import { requiredFunctions } from "../registry/registry.ts";
import { digestOf } from "./digest.ts";
import { inspect } from "./inspect.ts";
import type { Definition, Finding } from "./inspection.ts";
import { manifestOf } from "./manifest-of.ts";
import type { FileReference } from "./reference.ts";

/** A single-file plugin with the manifest derived from it, or the reason why it can't be used. */
export type ResolvedFile =
  | {
      readonly file: string;
      readonly manifest: PluginManifest;
      readonly source: PluginSource;
      readonly problems: readonly Problem[];
    }
  | { readonly manifest?: undefined; readonly problems: readonly Problem[] };

/** A place in a pipeline that names a single-file plugin. */
export interface FileSlot {
  /** Default: any kind that the module defines. */
  readonly kind?: PluginManifest["kind"] | undefined;
  readonly reference: FileReference;
  readonly place: Place;
  /** The folder that its path is relative to. */
  readonly base: string;
}

/** Inspects the module that a pipeline names, and derives the plugin's manifest from its definition. */
export async function resolveFile({ kind, reference, place, base }: FileSlot): Promise<ResolvedFile> {
  const path = resolve(base, reference.path);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
    const params = { at: place.text, name: reference.path, hint: missingHint(path) };
    return { problems: [{ place, error: new EverturnError("PLUGIN_NOT_FOUND", params) }] };
  }
  const file = realpathSync(path);
  const { found, files } = await inspect({ path: file, name: reference.name, kind });
  const text = readFileSync(file, "utf8");
  if ("finding" in found) return { problems: [problemOf(found.finding, file, text, reference.name)] };

  const { manifest, problems } = checked(found.definition, file, text, reference.name);
  if (manifest === undefined) return { problems };
  const digests = files.map((one) => [one, digestOf(one)] as const);
  const { positions } = found.definition;
  const source: PluginSource = defined({
    export: reference.name,
    positions,
    files: Object.fromEntries(digests),
  });
  return { file, manifest, source, problems: [] };
}

/** The functions that each kind of definition may have. */
const functionsOf: Record<PluginManifest["kind"], readonly string[]> = {
  tool: ["execute", "create", "release", "snapshot", "restore", "reap", "probe"],
  reward: ["score"],
  dataset: ["load"],
  loop: ["turn"],
  loss: ["loss"],
  policy: ["initialize", "open", "check", "framing", "traits"],
  trainer: ["open", "check", "resolve"],
  tracker: ["open"],
  environment: ["load", "score"],
};

function checked(definition: Definition, file: string, text: string, name: string) {
  const block = definition.kind === "tool" || definition.kind === "reward" ? `/${definition.kind}` : "";
  const told: Record<string, JsonObject> = {};
  for (const [key, one] of Object.entries(definition.schemas)) {
    told[key] = "schema" in one ? one.schema : { type: "object" };
  }
  const value = manifestOf(definition, told, file);
  const offsets = findKeys(text, name, value);
  const document: SourceDocument = { file: displayPath(file), source: text, value, offsets };
  const problem = (pointer: string, reason: string, hint: string): Problem => {
    const place = placeOf(document, pointer, "key");
    return { place, error: new EverturnError("PLUGIN_FILE_INVALID", { at: place.text, reason, hint }) };
  };
  const untold = Object.entries(definition.schemas).flatMap(([key, one]) =>
    "reason" in one
      ? [
          problem(
            key.endsWith("parameters") ? `${block}/${key}` : `/${key}`,
            `${key.replaceAll("/", ".")}: ${one.reason}`,
            one.hint,
          ),
        ]
      : [],
  );
  if (untold.length > 0) return { problems: untold };
  const noFunction = (one: string) => {
    const others = definition.functions.filter((other) => !functionsOf[definition.kind].includes(other));
    const meant = nearest(one, others);
    const hint = meant === undefined ? "" : ` Its “${meant}” is no such function.`;
    return problem(`${block}/${one}`, `${one} must be a function`, `Write \`${one}(…) { … }\`.${hint}`);
  };
  const wrong = functionsOf[definition.kind].filter((one) => one in definition.said).map(noFunction);
  if (wrong.length > 0) return { problems: wrong };
  const { manifest, problems } = checkManifestDocument(document, "the definition");
  if (manifest === undefined) return { problems };
  const { kind } = manifest;
  const needed = kind === "loop" || kind === "loss" ? functionsOf[kind] : requiredFunctions(manifest);
  const missing = needed.filter((one) => !definition.functions.includes(one));
  return missing.length === 0 ? { manifest, problems } : { problems: missing.map(noFunction) };
}

function problemOf(finding: Finding, file: string, text: string, name: string): Problem {
  const { reason, hint } = finding;
  const start = placeOfImport(reason, text) ?? findKeys(text, name, {}).get("")?.value ?? 0;
  const { line, column } = finding;
  const near = displayPath(finding.file ?? file);
  const place =
    line === undefined || column === undefined
      ? placeAt(near, text, start)
      : { file: near, line, column, text: `${near}:${line}:${column}` };
  return { place, error: new EverturnError("PLUGIN_FILE_INVALID", { at: place.text, reason, hint }) };
}

/**
 * The place where a module imports a missing package. Undefined if the error has another reason, or another
 * module imports it.
 */
function placeOfImport(reason: string, text: string): number | undefined {
  const [, missing] = /Cannot find package '([^']+)'/.exec(reason) ?? [];
  const places = [`"${missing}`, `'${missing}`].map((quoted) => text.indexOf(quoted));
  return missing === undefined ? undefined : places.find((at) => at >= 0);
}

function missingHint(path: string): string {
  const folder = dirname(path);
  const there = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  const other = there ? nearest(basename(path), readdirSync(folder)) : undefined;
  const question = other === undefined ? "" : ` Did you mean “${other}”?`;
  return `There is no file ${displayPath(path)}; a path is relative to the pipeline.${question}`;
}

/**
 * Returns the places of a definition's keys in the text of its module, as far as they appear there. Each key
 * is searched after the key that contains it. `name` is the export that defines it.
 */
function findKeys(source: string, name: string, manifest: unknown): Map<Pointer, NodeOffsets> {
  const start = startOf(source, name);
  const offsets = new Map<Pointer, NodeOffsets>([["", { value: start }]]);
  search(manifest, "", start);
  return offsets;

  function search(value: unknown, pointer: Pointer, from: number): void {
    if (!isObject(value)) return;
    for (const [key, inner] of Object.entries(value)) {
      const at = child(pointer, key);
      const isBlock = at === "/tool" || at === "/reward";
      const found = isBlock ? { value: from } : keyAfter(source, key, from);
      if (found !== undefined) offsets.set(at, found);
      if (found !== undefined) search(inner, at, found.value);
    }
  }
}

/**
 * The start of the definition: its export, else the first call that defines something, else the start of the
 * module.
 */
function startOf(source: string, name: string): number {
  const exported = name === "default" ? "export\\s+default\\s" : `\\b${name.replaceAll("$", "\\$")}\\s*=`;
  const patterns = [new RegExp(exported), /\bdefine[A-Z]\w+\s*\(/, /^/];
  return patterns.map((pattern) => source.search(pattern)).find((at) => at >= 0) ?? 0;
}

function keyAfter(source: string, key: string, from: number): NodeOffsets | undefined {
  const escaped = key.replace(/[^\w]/g, "\\$&");
  const pattern = new RegExp(`(?<![\\w$."'])(["']?)${escaped}\\1\\s*(?::\\s*|(?=[,(}]))`, "g");
  pattern.lastIndex = from;
  const found = pattern.exec(source);
  if (found === null) return undefined;
  const end = found.index + found[0].length;
  return { key: found.index, value: /:\s*$/.test(found[0]) ? end : found.index };
}
