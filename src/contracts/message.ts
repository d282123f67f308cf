import type { JsonObject } from "./json.ts";

/** A tool call as the policy wrote it, parsed. `arguments` is not yet checked against the tool's schema. */
export interface ToolCall {
  name: string;
  arguments: JsonObject;
}

/** A chat message in OpenAI's shape, as chat templates read it. */
export interface Message {
  role: "system" | "user" | "assistant" | "tool";
  content: string;
  tool_calls?: { type: "function"; id?: string; function: ToolCall }[];
  /** The assistant's thoughts before this message. Some templates show them. */
  reasoning_content?: string;
  name?: string;
  /** For a tool's message: the id that the action gave the call. */
  tool_call_id?: string;
  /** For policies that read images. Other policies never receive one. */
  images?: MessageImage[];
}

/** An image of a message, by its content, which the run's store holds. Sizes in pixels. */
export interface MessageImage {
  /** SHA-256, in hexadecimal. */
  sha256: string;
  mediaType: string;
  width?: number;
  height?: number;
  /** The image's position in the content, in characters. Default: after the content. */
  at?: number;
}

/** The properties of a tool that chat templates and agent loops see. `parameters` is a JSON Schema (draft-07). */
export interface ToolDefinition {
  name: string;
  description: string;
  parameters: JsonObject;
}

/** A message that a person adds. */
export interface SpokenMessage {
  role: "user" | "system";
  content: string;
}
