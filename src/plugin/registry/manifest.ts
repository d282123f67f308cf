import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import manifestSchema from "../../../schemas/plugin.schema.json" with { type: "json" };
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { checkValue } from "../../base/validation/check-value.ts";
import { problemsOf } from "../../base/validation/findings.ts";
import { parseJson } from "../../base/validation/parse-json.ts";
import { displayPath } from "../../base/validation/place.ts";
import { child, type Pointer, pathText } from "../../base/validation/pointer.ts";
import type { Problem } from "../../base/validation/problem.ts";
import { readText } from "../../base/validation/read-text.ts";
import { placeOf, type SourceDocument } from "../../base/validation/source-document.ts";
import { validatorOf } from "../../base/validation/validator.ts";
import type { Alias, PluginManifest } from "../../contracts/generated/plugin.ts";
import type { JsonObject } from "../../contracts/json.ts";
import { manifestAs } from "./alias.ts";
import { noConfig } from "./config.ts";
import { manifestName } from "./discover.ts";
import { schemaProblems } from "./schema-problems.ts";

/** A manifest with defaults filled in, or the reason why it can't be used. */
export interface CheckedManifest {
  readonly manifest?: PluginManifest;
  readonly problems: readonly Problem[];
}

const validator = validatorOf<PluginManifest>(manifestSchema);

/**
 * Reads and checks the manifest in `folder`: its form, its schemas, and the existence of the files it names.
 */
export function checkManifest(folder: string): CheckedManifest {
  const path = join(folder, manifestName);
  const { document, problems } = parseJson(readText(path), displayPath(path));
  if (document === undefined) return { problems };
  const { manifest, problems: wrong } = checkManifestDocument(document, "the manifest");
  const all = [
    ...problems,
    ...wrong,
    ...(manifest === undefined ? [] : missingFiles(manifest, folder, document)),
  ];
  return all.length === 0 && manifest !== undefined ? { manifest, problems: [] } : { problems: all };
}

/** Checks a manifest's form and its schemas, and fills in defaults. `whole` is its name in messages. */
export function checkManifestDocument(document: SourceDocument, whole: string): CheckedManifest {
  const manifest = document.value;
  const validate = validator();
  if (!validate(manifest)) {
    return { problems: problemsOf(validate.errors ?? [], document, { base: "", whole }) };
  }
  const problems = schemasOf(manifest, document);
  return problems.length === 0 ? { manifest, problems } : { problems };
}

function schemasOf(manifest: PluginManifest, document: SourceDocument): Problem[] {
  const { parameters, functions = {} } = manifest.tool ?? {};
  const schemas: [Pointer, JsonObject | undefined][] = [
    ["/config", manifest.config],
    ["/tool/parameters", parameters],
    ...Object.entries(functions).map(([name, said]): [Pointer, JsonObject] => [
      child(child("/tool/functions", name), "parameters"),
      said.parameters,
    ]),
  ];
  return [
    ...schemas.flatMap(([pointer, schema]) =>
      schema === undefined ? [] : schemaProblems(schema, document, pointer),
    ),
    ...saidTwice(manifest, document),
    ...(manifest.aliases ?? []).flatMap((alias, index) => aliasProblems(manifest, alias, index, document)),
  ];
}

/** The problems of an alias, in its schema or in the options that it sets. */
function aliasProblems(
  manifest: PluginManifest,
  { name, preset }: Alias,
  index: number,
  document: SourceDocument,
): Problem[] {
  const pointer = child("/aliases", index);
  const { config = {} } = manifestAs(manifest, name).manifest;
  const at = child(pointer, "preset");
  const { required: _, ...optional } = manifest.config ?? noConfig;
  const { errors } = checkValue(optional, structuredClone(preset));
  return [
    ...schemaProblems(config, document, child(pointer, "config")),
    ...problemsOf(errors, document, { base: at, whole: "the preset" }),
  ];
}

/** Settings of a single function in the manifest of a tool with several functions. */
function saidTwice({ tool }: PluginManifest, document: SourceDocument): Problem[] {
  const several = tool?.functions !== undefined ? "functions" : tool?.dynamic ? "dynamic" : undefined;
  if (several === undefined) return [];
  return (["description", "parameters", "functions"] as const).flatMap((key) => {
    if (key === several || tool?.[key] === undefined) return [];
    const place = placeOf(document, child("/tool", key), "key");
    const reason = `is set in addition to tool.${several}, which sets it for each function`;
    const params = { at: place.text, where: `tool.${key}`, reason, hint: "Remove one of the two." };
    return [{ place, error: new EverturnError("WRONG_COMBINATION", params) }];
  });
}

function missingFiles(manifest: PluginManifest, folder: string, document: SourceDocument): Problem[] {
  const named: [Pointer, string | undefined][] = [
    ["/entry", manifest.entry],
    ["/workflow", manifest.workflow],
  ];
  return named.flatMap(([pointer, path]) => {
    if (path === undefined || existsSync(resolve(folder, path))) return [];
    const place = placeOf(document, pointer, "value");
    const params = { at: place.text, where: pathText(pointer), path };
    return [{ place, error: new EverturnError("PLUGIN_PATH_MISSING", params) }];
  });
}
