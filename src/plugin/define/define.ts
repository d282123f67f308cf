import type { DatasetPlugin } from "../../contracts/dataset.ts";
import type {
  ArgumentsOf,
  ConfigOf,
  Defined,
  DefinedDataset,
  DefinedExecution,
  DefinedReward,
  DefinedTool,
  DefinedTracker,
  ObjectSchema,
} from "../../contracts/definitions.ts";
import type { RewardPlugin } from "../../contracts/reward.ts";
import type { ToolPlugin } from "../../contracts/tool.ts";
import type { TrackerPlugin } from "../../contracts/tracker.ts";
import { foreignTool } from "../registry/foreign/foreign-tool.ts";
import { issuesText, speaksStandard } from "../registry/standard-schema.ts";
import { marked } from "./mark.ts";

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
      if (parsed.issues !== undefined) return { invalid: issuesText(parsed.issues) };
      return Reflect.apply(execute, this, [parsed.value, execution, state]);
    },
  });
}

/**
 * A tool of the AI SDK, LangChain.js, Mastra or OpenAI's agents SDK, with what Everturn may be told of it besides; without
 * that, a pipeline names such a tool as it is. `capabilities`: network by default. Throws TypeError if it is none of these.
 */
export function wrapTool(
  tool: object,
  {
    name = "",
    ...said
  }: { name?: string; description?: string } & Omit<Defined<never>, "config"> & DefinedExecution,
): ToolPlugin {
  const foreign = foreignTool(tool, name);
  if (foreign === undefined)
    throw new TypeError(
      "wrapTool: this is not a tool of the AI SDK, LangChain.js, Mastra or OpenAI's agents SDK",
    );
  return marked("tool", { ...foreign, ...said, ...(name !== "" && { name }) });
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

/** A tracker in one file: its default export, `trackers: [./trackers/chat.ts]`. */
export function defineTracker<const Config extends ObjectSchema | undefined = undefined>(
  definition: DefinedTracker<Config, ConfigOf<Config>>,
): TrackerPlugin;
export function defineTracker(definition: TrackerPlugin): TrackerPlugin {
  return marked("tracker", { ...definition });
}
