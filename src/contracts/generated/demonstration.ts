// Generated from schemas/demonstration.schema.json by scripts/generate-types.ts: change the schema instead.
import type { JsonObject } from "../json.ts";

/**
 * A row of a demonstrations file: a conversation to imitate, in the format of OpenAI's chat completions. The loss covers the assistant's messages. Other columns are ignored, except the tools of an agent (docs/agents.md).
 */
export interface Demonstration {
  /**
   * The conversation. It ends with an assistant message.
   *
   * @minItems 2
   */
  messages: DemonstrationMessage[];
  /**
   * The images that the messages show to a policy that reads images, one for each <image> in them, in the forms of a task's images.
   */
  images?: unknown[];
  [k: string]: unknown;
}
/**
 * A chat message in OpenAI's format. Other fields of OpenAI's answers (refusal, annotations, audio, a null function_call) are ignored.
 */
export interface DemonstrationMessage {
  /**
   * The role of the message; developer is treated as system.
   */
  role: "system" | "developer" | "user" | "assistant" | "tool";
  /**
   * The content: text, or a list of text parts; null, empty or left out if an assistant only calls tools.
   */
  content?: string | TextPart[] | null;
  /**
   * The assistant's tool calls; null or left out if there are none.
   */
  tool_calls?: DemonstratedFunction[] | null;
  /**
   * The id of the call that a tool message answers.
   */
  tool_call_id?: string;
  /**
   * The name of the tool that answers. Default: found by tool_call_id.
   */
  name?: string;
  /**
   * Ignored.
   */
  refusal?: string | null;
  /**
   * Ignored.
   */
  annotations?: unknown[];
  /**
   * Only null.
   */
  audio?: null;
  /**
   * Only null.
   */
  function_call?: null;
}
/**
 * A part of a message.
 */
export interface TextPart {
  /**
   * Always text.
   */
  type: "text";
  /**
   * The text.
   */
  text: string;
}
/**
 * A function call in OpenAI's format.
 */
export interface DemonstratedFunction {
  /**
   * The call's id, which the tool message that answers it refers to.
   */
  id?: string;
  /**
   * Always function.
   */
  type?: "function";
  /**
   * The function call.
   */
  function: {
    /**
     * The tool's name.
     */
    name: string;
    /**
     * The call's arguments: a mapping, or its JSON text, as in OpenAI's format.
     */
    arguments: JsonObject | string;
  };
  /**
   * Ignored.
   */
  index?: number;
}
