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
  /** What an assistant thought before it said this. Some templates show it. */
  reasoning_content?: string;
  name?: string;
  /** Of a tool's message: the id that the action gave the call. */
  tool_call_id?: string;
  /** For policies that read images; others never see one. */
  images?: MessageImage[];
}

/** An image of a message, by its content, which the run's store has. Sizes in pixels. */
export interface MessageImage {
  /** SHA-256, in hexadecimal. */
  sha256: string;
  mediaType: string;
  width?: number;
  height?: number;
  /** Where it stands in the content, in characters; absent: after it. */
  at?: number;
}

/** What a chat template and an agent loop know of a tool. `parameters` is a JSON Schema (draft-07). */
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
