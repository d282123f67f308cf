import pipelineSchema from "../../schemas/pipeline.schema.json" with { type: "json" };
import type { Pipeline } from "../contracts/generated/pipeline.ts";
import type { ResolvedReward } from "../contracts/plan.ts";
import { checkValue } from "../validation/check-value.ts";
import { problemsOf } from "../validation/findings.ts";
import { valueAt } from "../validation/pointer.ts";
import { refusal } from "../validation/problem.ts";
import type { SourceDocument } from "../validation/source-document.ts";
import { resolvedRewards } from "./assemble-plan.ts";
import { crossChecks } from "./cross-checks.ts";
import { expandNames } from "./expand-names.ts";
import { applyOverrides } from "./overrides.ts";
import { resolvePlugins } from "./resolve-plugins.ts";

const { definitions, properties } = pipelineSchema;
const schema = {
  type: "object",
  additionalProperties: false,
  required: ["reward"],
  properties: { reward: properties.reward },
  definitions,
};

/** `reward:` of a pipeline alone, said as YAML: `reward-x`, `{ plugin: …, config: … }`, a list. Throws OVERRIDE_INVALID. */
export function rewardDocument(text: string): SourceDocument {
  const nothing = { file: "--reward", source: "", value: {}, offsets: new Map() };
  return applyOverrides(nothing, [`reward=${text}`]);
}

/**
 * The rewards of a pipeline in `folder`, whatever else it says: found, checked, defaults filled in. Throws
 * WRONG_CONFIGURATION with all that is wrong with them.
 */
export async function loadRewards(
  pipeline: SourceDocument,
  folder: string,
  pluginFolders: readonly string[] = [],
): Promise<ResolvedReward[]> {
  const document = expandNames({ ...pipeline, value: { reward: valueAt(pipeline.value, "/reward") } });
  const { errors, valid } = checkValue<Pick<Pipeline, "reward">>(schema, document.value, folder);
  const { plugins, problems } = await resolvePlugins(document, folder, pluginFolders);
  const all = [
    ...problemsOf(errors, document, { base: "", whole: "the pipeline" }),
    ...problems,
    ...crossChecks(document, plugins),
  ];
  if (valid === undefined || all.length > 0) throw refusal(document.file, all);
  return resolvedRewards(plugins, valid.reward);
}
