// Generated from schemas/task.schema.json by scripts/generate-types.ts: change the schema instead.
import type { JsonObject } from "../json.ts";
import type { JsonValue } from "../json.ts";

/**
 * A task: one row of a data set, in verl's form. Further columns are kept, and tools and rewards may read them.
 */
export interface Task {
  /**
   * The data set the task comes from, for example reasoning_gym/chain_sum.
   */
  data_source: string;
  /**
   * The messages the trajectory starts from.
   *
   * @minItems 1
   */
  prompt: PromptMessage[];
  /**
   * What the task asks for, for example math.
   */
  ability?: string;
  /**
   * The right answer, with which the reward compares: { "ground_truth": … }.
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
   * Whatever else the row carries.
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
   * Which of the pipeline's loops takes its turns; the pipeline's own loop if left out.
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
   * What is said. Where a row has images, <image> shows the next of them to a policy that reads images. Files may have OpenAI's content parts in its place.
   */
  content: string;
}
