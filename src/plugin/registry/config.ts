import pipelineSchema from "../../../schemas/pipeline.schema.json" with { type: "json" };
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { checkValue } from "../../base/validation/check-value.ts";
import { problemsOf } from "../../base/validation/findings.ts";
import { child, type Pointer, pathText } from "../../base/validation/pointer.ts";
import type { Problem } from "../../base/validation/problem.ts";
import { placeOf, type SourceDocument } from "../../base/validation/source-document.ts";
import type { PluginManifest } from "../../contracts/generated/plugin.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { NamedManifest } from "./alias.ts";

const { LoopUse, ToolUse, RewardUse, TrainerUse } = pipelineSchema.definitions;

/** Settings of a plugin in a pipeline other than its configuration. */
const besideConfig: Partial<Record<PluginManifest["kind"], readonly string[]>> = {
  loop: Object.keys(LoopUse.properties),
  tool: Object.keys(ToolUse.properties),
  reward: Object.keys(RewardUse.properties),
  trainer: Object.keys(TrainerUse.properties),
};

/** The schema of a configuration that a manifest does not describe. */
export const noConfig: JsonObject = { type: "object", additionalProperties: false, properties: {} };

/**
 * Checks the plugin configuration at `pointer` of a pipeline against the manifest's schema. Fills defaults into
 * `config` and makes its paths absolute. Returns the plugin's whole configuration, with what an alias sets.
 */
export function checkConfig(
  config: JsonObject,
  { manifest, alias }: NamedManifest,
  document: SourceDocument,
  pointer: Pointer,
  baseFolder: string,
): { whole: JsonObject; problems: Problem[] } {
  const { errors } = checkValue(manifest.config ?? noConfig, config, baseFolder);
  const subject = {
    base: pointer,
    whole: "the configuration",
    beside: besideConfig[manifest.kind] ?? [],
    inPipeline: true,
  };
  if (alias === undefined) return { whole: config, problems: problemsOf(errors, document, subject) };
  const { of, preset } = alias;
  const isPreset = ({ instancePath, keyword, params }: (typeof errors)[number]) =>
    instancePath === "" && keyword === "additionalProperties" && params.additionalProperty in preset;
  const set = Object.keys(config).filter((key) => key in preset);
  const others = errors.filter((error) => !isPreset(error));
  const problems = set.map((key) => {
    const place = placeOf(document, child(pointer, key), "key");
    const hint = `${manifest.name} is an alias of ${of} and sets “${key}” itself. Name ${of} to set it.`;
    const params = { at: place.text, key, where: pathText(pointer), hint };
    return { place, error: new EverturnError("UNKNOWN_KEY", params) };
  });
  return {
    whole: { ...config, ...preset },
    problems: [...problems, ...problemsOf(others, document, subject)],
  };
}
