import pipelineSchema from "../../../schemas/pipeline.schema.json" with { type: "json" };
import { checkValue } from "../../base/validation/check-value.ts";
import { problemsOf } from "../../base/validation/findings.ts";
import { valueAt } from "../../base/validation/pointer.ts";
import { refusal } from "../../base/validation/problem.ts";
import type { SourceDocument } from "../../base/validation/source-document.ts";
import type { Pipeline } from "../../contracts/generated/pipeline.ts";
import type { ResolvedReward } from "../../contracts/plan.ts";
import { crossChecks } from "./check/cross-checks.ts";
import { expandNames } from "./read/expand-names.ts";
import { applyOverrides } from "./read/overrides.ts";
import { resolvedRewards } from "./resolve/assemble-plan.ts";
import { expandEnvironment } from "./resolve/expand-environment.ts";
import { resolvePlugins } from "./resolve/resolve-plugins.ts";

const { definitions, properties } = pipelineSchema;
const schema = {
  type: "object",
  additionalProperties: false,
  required: ["reward"],
  properties: { reward: properties.reward },
  definitions,
};

/**
 * Reads the `reward:` setting of a pipeline from YAML: `reward-x`, `{ plugin: …, config: … }` or a list.
 * Throws OVERRIDE_INVALID.
 */
export function rewardDocument(text: string): SourceDocument {
  const nothing = { file: "--reward", source: "", value: {}, offsets: new Map() };
  return applyOverrides(nothing, [`reward=${text}`]);
}

/**
 * Resolves the rewards of a pipeline in `folder`, ignoring its other settings: finds them, checks them and
 * fills in defaults. Throws WRONG_CONFIGURATION with all their problems.
 */
export async function loadRewards(
  pipeline: SourceDocument,
  folder: string,
  pluginFolders: readonly string[] = [],
): Promise<ResolvedReward[]> {
  const whole = expandEnvironment(expandNames(pipeline), folder, pluginFolders);
  const document = { ...whole, value: { reward: valueAt(whole.value, "/reward") } };
  const { errors, valid } = checkValue<Pick<Pipeline, "reward">>(schema, document.value, folder);
  const { plugins, problems } = await resolvePlugins(document, folder, pluginFolders);
  const all = [
    ...problemsOf(errors, document, { base: "", whole: "the pipeline", inPipeline: true }),
    ...problems,
    ...crossChecks(document, plugins),
  ];
  if (valid === undefined || all.length > 0) throw refusal(document.file, all);
  return resolvedRewards(plugins, valid.reward);
}
