import pipelineSchema from "../../../schemas/pipeline.schema.json" with { type: "json" };
import { checkValue } from "../../base/validation/check-value.ts";
import { problemsOf } from "../../base/validation/findings.ts";
import type { Pointer } from "../../base/validation/pointer.ts";
import type { Problem } from "../../base/validation/problem.ts";
import type { SourceDocument } from "../../base/validation/source-document.ts";
import type { PluginManifest } from "../../contracts/generated/plugin.ts";
import type { JsonObject } from "../../contracts/json.ts";

const { LoopUse, ToolUse, RewardUse, TrainerUse } = pipelineSchema.definitions;

/** What a pipeline may say of a plugin beside its configuration. */
const besideConfig: Partial<Record<PluginManifest["kind"], readonly string[]>> = {
  loop: Object.keys(LoopUse.properties),
  tool: Object.keys(ToolUse.properties),
  reward: Object.keys(RewardUse.properties),
  trainer: Object.keys(TrainerUse.properties),
};

const noConfig: JsonObject = { type: "object", additionalProperties: false, properties: {} };

/**
 * Checks the plugin configuration at `pointer` of a pipeline against the manifest's schema. Fills defaults into
 * `config` and makes its paths absolute.
 */
export function checkConfig(
  config: JsonObject,
  manifest: PluginManifest,
  document: SourceDocument,
  pointer: Pointer,
  baseFolder: string,
): Problem[] {
  const { errors } = checkValue(manifest.config ?? noConfig, config, baseFolder);
  const subject = { base: pointer, whole: "the configuration", beside: besideConfig[manifest.kind] ?? [] };
  return problemsOf(errors, document, subject);
}
