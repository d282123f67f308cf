import type { DatasetPlugin } from "../contracts/dataset.ts";
import type {
  ArgumentsOf,
  ConfigOf,
  DefinedDataset,
  DefinedReward,
  DefinedTool,
  ObjectSchema,
} from "../contracts/definitions.ts";
import type { RewardPlugin } from "../contracts/reward.ts";
import type { ToolPlugin } from "../contracts/tool.ts";
import { marked } from "./mark.ts";
import { issuesText, speaksStandard } from "./standard-schema.ts";

/**
 * A tool in one file: its default export, which a pipeline names by its path, `tools: [./tools/length.ts]`. The arguments
 * of `execute` have the types of `parameters`.
 */
export function defineTool<
  const Parameters extends ObjectSchema,
  const Config extends ObjectSchema | undefined = undefined,
  State = undefined,
>(
  definition: DefinedTool<Parameters, ArgumentsOf<Parameters>, Config, ConfigOf<Config>, State>,
): ToolPlugin<State>;
export function defineTool(definition: { parameters: unknown } & ToolPlugin<unknown>): ToolPlugin<unknown> {
  const { parameters, execute, create } = definition;
  const whole = { ...(create !== undefined && { release() {} }), ...definition };
  if (!speaksStandard(parameters) || typeof execute !== "function") return marked("tool", whole);
  return marked("tool", {
    ...whole,
    async execute(given, execution, state) {
      const parsed = await parameters["~standard"].validate(given);
      if (parsed.issues !== undefined) return { text: `error: ${issuesText(parsed.issues)}`, error: true };
      return Reflect.apply(execute, this, [parsed.value, execution, state]);
    },
  });
}

/** A reward manager in one file: its default export, `reward: ./rewards/near.ts`. */
export function defineReward<const Config extends ObjectSchema | undefined = undefined>(
  definition: DefinedReward<Config, ConfigOf<Config>>,
): RewardPlugin;
export function defineReward(definition: RewardPlugin): RewardPlugin {
  return marked("reward", { ...definition });
}

/** A data set in one file: its default export, `dataset: { train: ./data/sums.ts, … }`. */
export function defineDataset<const Config extends ObjectSchema | undefined = undefined>(
  definition: DefinedDataset<Config, ConfigOf<Config>>,
): DatasetPlugin;
export function defineDataset(definition: DatasetPlugin): DatasetPlugin {
  return marked("dataset", { ...definition });
}
