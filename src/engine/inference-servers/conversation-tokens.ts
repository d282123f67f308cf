import type { Message, ToolDefinition } from "../../contracts/message.ts";
import type { MaskedTokens, TokenizedText } from "../../contracts/policy.ts";

/** A message of a conversation with an endpoint that reads and writes text alone. */
export interface TextMessage extends Omit<Message, "tool_calls"> {
  /** As the endpoint wrote them, their arguments as text, which may be no JSON. */
  tool_calls?: FunctionText[];
}

/** A call as the endpoint wrote it. */
export interface FunctionText {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** A conversation, read back from its tokens. */
export interface Conversation {
  tools: ToolDefinition[];
  messages: TextMessage[];
}

/**
 * How a conversation is kept as tokens where nobody says what a model's own are: a line of JSON for the tools and for each
 * message, and a token for each byte. So a trajectory is what it is with any other policy, and says all that the next request
 * needs.
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

/** The tokens of what an endpoint wrote. */
export const answerTokens = (message: TextMessage): number[] => bytesOf(linesOf([message]));

/** The conversation that a trajectory's tokens are. */
export function conversationOf(tokens: readonly number[]): Conversation {
  const lines = Buffer.from(tokens).toString("utf8").split("\n");
  const [{ tools }, ...messages] = lines.filter((line) => line !== "").map((line) => JSON.parse(line));
  return { tools, messages };
}

const bytesOf = (text: string): number[] => [...Buffer.from(text, "utf8")];

const linesOf = (values: readonly object[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join("");
