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
 * Defines a tool in one file, as its default export. A pipeline names it by its path: `tools: [./tools/length.ts]`. The
 * arguments of `execute` have the types of `parameters`.
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
 * Wraps a tool of the AI SDK, LangChain.js, Mastra or OpenAI's agents SDK to add Everturn's own settings. Without them, a
 * pipeline can name such a tool directly. Default `capabilities`: network. Throws TypeError for any other object.
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

/** Defines a reward in one file, as its default export: `reward: ./rewards/near.ts`. */
export function defineReward<const Config extends ObjectSchema | undefined = undefined>(
  definition: DefinedReward<Config, ConfigOf<Config>>,
): RewardPlugin;
export function defineReward(definition: RewardPlugin): RewardPlugin {
  return marked("reward", { ...definition });
}

/** Defines a data set in one file, as its default export: `dataset: { train: ./data/sums.ts, … }`. */
export function defineDataset<const Config extends ObjectSchema | undefined = undefined>(
  definition: DefinedDataset<Config, ConfigOf<Config>>,
): DatasetPlugin;
export function defineDataset(definition: DatasetPlugin): DatasetPlugin {
  return marked("dataset", { ...definition });
}

/** Defines a tracker in one file, as its default export: `trackers: [./trackers/chat.ts]`. */
export function defineTracker<const Config extends ObjectSchema | undefined = undefined>(
  definition: DefinedTracker<Config, ConfigOf<Config>>,
): TrackerPlugin;
export function defineTracker(definition: TrackerPlugin): TrackerPlugin {
  return marked("tracker", { ...definition });
}
