// Generated from schemas/demonstration.schema.json by scripts/generate-types.ts: change the schema instead.
import type { JsonObject } from "../json.ts";

/**
 * A row of a demonstrations file: a conversation to imitate. Loss is on the assistant's messages.
 */
export interface Demonstration {
  /**
   * The conversation; it ends with the assistant.
   *
   * @minItems 2
   */
  messages: DemonstrationMessage[];
}
/**
 * A chat message in OpenAI's form.
 */
export interface DemonstrationMessage {
  /**
   * Who speaks.
   */
  role: "system" | "user" | "assistant" | "tool";
  /**
   * What is said; empty where an assistant only calls tools.
   */
  content: string;
  /**
   * What an assistant calls.
   *
   * @minItems 1
   */
  tool_calls?: DemonstratedCall[];
  /**
   * The tool that answers.
   */
  name?: string;
}
/**
 * A function call in OpenAI's form.
 */
export interface DemonstratedCall {
  /**
   * Always function.
   */
  type: "function";
  /**
   * What is called.
   */
  function: {
    /**
     * The tool's name.
     */
    name: string;
    /**
     * The call's arguments.
     */
    arguments: JsonObject;
  };
}
