import type { JsonObject } from "../../contracts/json.ts";
import type { Message, MessageImage, ToolDefinition } from "../../contracts/message.ts";

/** A call in OpenAI's protocols. Its arguments are JSON text, which a client may have rewritten. */
export interface EndpointCall {
  /** Created by the endpoint, and unique in a session. */
  id: string;
  name: string;
  arguments: string;
}

/** An image in a request. */
export interface SentImage {
  /** Its place in the body. */
  field: string;
  /** The type of its part. */
  type: string;
  url: string;
  /** Its offset in the message's content, in characters. */
  at: number;
}

/** A message of a request in either protocol. `developer` becomes system. */
export interface EndpointMessage {
  role: Message["role"];
  /** Its texts, each part on lines of its own; "" for null. */
  content: string;
  /** Its images before they are read. Models that only read text reject them. */
  sentImages?: SentImage[] | undefined;
  /** Its images, stored by content. */
  images?: MessageImage[] | undefined;
  /** For a tool's message. */
  name?: string | undefined;
  /** For a tool's message: the call that it answers. */
  callId?: string | undefined;
  /** For an assistant's message. */
  calls?: EndpointCall[] | undefined;
  reasoning?: string | undefined;
  /** Ids of the items of responses that form an assistant's message. */
  itemIds?: string[] | undefined;
  /** Those of them that were sent by id only (`item_reference`). */
  referredIds?: string[] | undefined;
  /** Marks the `instructions` of responses, which `previous_response_id` does not carry over. */
  isInstructions?: true | undefined;
}

/** Which tools the client wants called. It does not force the policy. */
export type ToolChoice = "auto" | "none" | "required" | { name: string };

/** The form of the answer's text that the client wants. It does not force the policy. */
export type ResponseFormat =
  | { type: "text" | "json_object" }
  | { type: "json_schema"; name: string; schema: JsonObject };

/** A client's request to a model in either protocol. */
export interface ModelRequest {
  path: "chat" | "responses";
  stream: boolean;
  /** For a stream of chat completions: whether a last chunk reports the usage. */
  includeUsage: boolean;
  model: string;
  messages: EndpointMessage[];
  tools: ToolDefinition[];
  toolChoice: ToolChoice;
  responseFormat?: ResponseFormat | undefined;
  /** For responses: the answer that `messages` continue. */
  previousResponseId?: string | undefined;
}

/** The model's answer. The ids of responses and their items derive from its `id` (answer-ids.ts). */
export interface ModelAnswer {
  /** Letters and digits, unique among all answers of a session. */
  id: string;
  /** The answer without calls. */
  text: string;
  reasoning?: string | undefined;
  calls: EndpointCall[];
  finishReason: "stop" | "length" | "tool_calls";
  /** Tokens. */
  usage: { prompt: number; completion: number };
  /** Seconds since 1970. */
  created: number;
}
