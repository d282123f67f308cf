// Generated from schemas/demonstration.schema.json by scripts/generate-types.ts: change the schema instead.
import type { JsonObject } from "../json.ts";

/**
 * A row of a demonstrations file: a conversation to imitate, in the form of OpenAI's chat completions, as it was sent and answered. Loss is on the assistant's messages. Further columns are not read.
 */
export interface Demonstration {
  /**
   * The conversation; it ends with the assistant.
   *
   * @minItems 2
   */
  messages: DemonstrationMessage[];
  [k: string]: unknown;
}
/**
 * A chat message in OpenAI's form. What else an answer of theirs has (refusal, annotations, audio, a null function_call) is not read.
 */
export interface DemonstrationMessage {
  /**
   * Who speaks; developer is read as system.
   */
  role: "system" | "developer" | "user" | "assistant" | "tool";
  /**
   * What is said: text, or a list of text parts; null, empty or left out where an assistant only calls tools.
   */
  content?: string | TextPart[] | null;
  /**
   * What an assistant calls; null or left out if nothing.
   */
  tool_calls?: DemonstratedCall[] | null;
  /**
   * The call that a tool answers.
   */
  tool_call_id?: string;
  /**
   * The tool that answers; found by tool_call_id if left out.
   */
  name?: string;
  /**
   * Not read.
   */
  refusal?: string | null;
  /**
   * Not read.
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
   * What is said.
   */
  text: string;
}
/**
 * A function call in OpenAI's form.
 */
export interface DemonstratedCall {
  /**
   * Names the call for the tool's message that answers it.
   */
  id?: string;
  /**
   * Always function.
   */
  type?: "function";
  /**
   * What is called.
   */
  function: {
    /**
     * The tool's name.
     */
    name: string;
    /**
     * The call's arguments: a mapping, or the text of one in JSON, as OpenAI writes it.
     */
    arguments: JsonObject | string;
  };
  /**
   * Not read.
   */
  index?: number;
}
