import type { Message, ToolDefinition } from "../../contracts/message.ts";
import type { MaskedTokens, TokenizedText } from "../../contracts/policy.ts";

/** A message of a conversation with an endpoint that reads and writes only text. */
export interface TextMessage extends Omit<Message, "tool_calls"> {
  /** The endpoint's calls. Their arguments are text, which may be invalid JSON. */
  tool_calls?: FunctionText[];
}

/** A call as the endpoint wrote it. */
export interface FunctionText {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** A conversation decoded from its tokens. */
export interface Conversation {
  tools: ToolDefinition[];
  messages: TextMessage[];
}

/**
 * Encodes a conversation as tokens if the model's own tokens are unknown: one line of JSON for the tools and for each
 * message, and one token per byte. So trajectories work as with any other policy and contain everything that the next
 * request needs.
 */
export const conversationFraming = {
  framePrompt: (messages: Message[], tools: ToolDefinition[]): TokenizedText => ({
    text: linesOf(messages),
    tokens: bytesOf(linesOf([{ tools }, ...messages])),
  }),
  frameObservation: (messages: Message[]): TokenizedText => ({
    text: linesOf(messages),
    tokens: bytesOf(linesOf(messages)),
  }),
  frameDemonstration(messages: Message[], tools: ToolDefinition[]): MaskedTokens {
    const parts = [{ tools }, ...messages].map((line) => ({
      bytes: bytesOf(linesOf([line])),
      own: "role" in line && line.role === "assistant" ? 1 : 0,
    }));
    return {
      tokens: parts.flatMap(({ bytes }) => bytes),
      mask: parts.flatMap(({ bytes, own }) => bytes.map(() => own)),
    };
  },
};

/** Returns the tokens of an endpoint's message. */
export const answerTokens = (message: TextMessage): number[] => bytesOf(linesOf([message]));

/** Decodes the conversation in a trajectory's tokens. */
export function conversationOf(tokens: readonly number[]): Conversation {
  const lines = Buffer.from(tokens).toString("utf8").split("\n");
  const [{ tools }, ...messages] = lines.filter((line) => line !== "").map((line) => JSON.parse(line));
  return { tools, messages };
}

const bytesOf = (text: string): number[] => [...Buffer.from(text, "utf8")];

const linesOf = (values: readonly object[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join("");
