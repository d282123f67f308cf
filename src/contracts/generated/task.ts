// Generated from schemas/task.schema.json by scripts/generate-types.ts: change the schema instead.
import type { JsonObject } from "../json.ts";
import type { JsonValue } from "../json.ts";

/**
 * A task: one row of a data set, in verl's format. Other columns are kept, and tools and rewards can read them.
 */
export interface Task {
  /**
   * The data set the task comes from, for example reasoning_gym/chain_sum.
   */
  data_source: string;
  /**
   * The messages that the trajectory starts from.
   *
   * @minItems 1
   */
  prompt: PromptMessage[];
  /**
   * The kind of task, for example math.
   */
  ability?: string;
  /**
   * The right answer, for the reward to compare with: { "ground_truth": … }.
   */
  reward_model: {
    /**
     * rule, or model for a judging model.
     */
    style?: string;
    /**
     * The expected final answer.
     */
    ground_truth: string;
    [k: string]: JsonValue | string | undefined;
  };
  /**
   * Other data of the row.
   */
  extra_info?: {
    /**
     * train, val or test.
     */
    split?: string;
    /**
     * The row's number or id in its data set.
     */
    index?: number | string;
    /**
     * Whether tools_kwargs is needed.
     */
    need_tools_kwargs?: boolean;
    /**
     * For each tool: create_kwargs, execute_kwargs, calc_reward_kwargs, release_kwargs.
     */
    tools_kwargs?: JsonObject;
    [k: string]: JsonValue | string | number | boolean | JsonObject | undefined;
  };
  /**
   * The name of one of the pipeline's loops. Default: the pipeline's own loop.
   */
  agent_name?: string;
  [k: string]: unknown;
}
/**
 * A chat message of a prompt.
 */
export interface PromptMessage {
  /**
   * Who speaks.
   */
  role: "system" | "user" | "assistant";
  /**
   * The text. If a row has images, each <image> shows the next of them to a policy that reads images. Files can use OpenAI's content parts instead.
   */
  content: string;
}
