import type { JsonObject } from "../../contracts/json.ts";
import type { Message, MessageImage, ToolDefinition } from "../../contracts/message.ts";

/** A call as OpenAI's protocols carry it: its arguments as JSON text, which a client may have written anew. */
export interface EndpointCall {
  /** Made by the endpoint, unique in a session. */
  id: string;
  name: string;
  arguments: string;
}

/** An image as a request has it. */
export interface SentImage {
  /** Where it stands in the body. */
  field: string;
  /** The type of its part. */
  type: string;
  url: string;
  /** Where it stands in the message's content, in characters. */
  at: number;
}

/** A message of a request, whichever protocol it came by. `developer` is system. */
export interface EndpointMessage {
  role: Message["role"];
  /** Its texts, each part on lines of its own; "" where it is null. */
  content: string;
  /** Its images, not looked at yet; refused where the model reads text alone. */
  sentImages?: SentImage[] | undefined;
  /** Its images, kept by their content. */
  images?: MessageImage[] | undefined;
  /** Of a tool's message. */
  name?: string | undefined;
  /** Of a tool's message: the call that it answers. */
  callId?: string | undefined;
  /** Of an assistant's message. */
  calls?: EndpointCall[] | undefined;
  reasoning?: string | undefined;
  /** Ids of the items of responses that an assistant's message is made of. */
  itemIds?: string[] | undefined;
  /** Those of them of which nothing but the id was sent (`item_reference`). */
  referredIds?: string[] | undefined;
  /** It is the `instructions` of responses, which `previous_response_id` does not carry over. */
  isInstructions?: true | undefined;
}

/** Which tools the client wants called. A policy is not forced to it. */
export type ToolChoice = "auto" | "none" | "required" | { name: string };

/** The form that the client wants of an answer's text. A policy is not forced to it. */
export type ResponseFormat =
  | { type: "text" | "json_object" }
  | { type: "json_schema"; name: string; schema: JsonObject };

/** What a client asks of a model, whichever protocol it came by. */
export interface ModelRequest {
  path: "chat" | "responses";
  stream: boolean;
  /** Of a stream of chat completions: a last chunk says the usage. */
  includeUsage: boolean;
  model: string;
  messages: EndpointMessage[];
  tools: ToolDefinition[];
  toolChoice: ToolChoice;
  responseFormat?: ResponseFormat | undefined;
  /** Of responses: the answer after which `messages` come. */
  previousResponseId?: string | undefined;
}

/** What the model answers. Of its `id` those of responses and their items are made (answer-ids.ts). */
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
