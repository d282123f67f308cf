import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { messageOf } from "../../../base/errors/message-of.ts";
import { defined } from "../../../base/records/defined.ts";
import { valueText } from "../../../base/validation/wording.ts";
import { type ShownPrompt, shownPrompt } from "../../../chat/images/shown-images.ts";
import type { DemonstratedFunction, Demonstration } from "../../../contracts/generated/demonstration.ts";
import { isObject, type JsonObject } from "../../../contracts/json.ts";
import type { Message, ToolDefinition } from "../../../contracts/message.ts";
import type { MaskedTokens } from "../../../contracts/policy.ts";
import type { RowTools } from "./row-tools.ts";

/** A conversation to imitate, as chat templates read it. */
export interface DemonstratedChat {
  messages: Message[];
  /** The messages with the places of their images. Absent if the row shows none. */
  shown?: ShownPrompt;
  /** The indices of messages that were given. They carry no loss. */
  given?: ReadonlySet<number>;
  /** The tools that its prompt shows. Default: those of the pipeline. */
  tools?: ToolDefinition[];
  /** The tokens that a model read and wrote. They replace those that the chat template would write. */
  sampled?: SampledTokens;
}

/** Tokens that a model read (mask 0) and wrote (mask 1). */
export interface SampledTokens extends MaskedTokens {
  /** Of each token that it wrote, in nats, and 0 for the others. Absent if unknown. */
  logprobs?: number[];
}

/**
 * Converts the messages of a row from OpenAI's chat completions to the form that chat templates read.
 * Arguments become a mapping, text parts are joined, missing content becomes an empty text, and a tool's
 * message gets its tool's name. If the row has images, each `<image>` shows the next of them. `at` is the row's place. Throws
 * WRONG_VALUE, IMAGE_UNUSABLE, and the errors of `rowTools`.
 */
export function demonstratedChat(row: Demonstration, at: string, rowTools: RowTools): DemonstratedChat {
  const names = new Map<string, string>();
  const messages = row.messages.map((message, index): Message => {
    const calls = (message.tool_calls ?? []).map((call, number) => {
      if (call.id !== undefined) names.set(call.id, call.function.name);
      const where = `messages[${index}].tool_calls[${number}].function.arguments`;
      return { name: call.function.name, arguments: argumentsOf(call, { at, where }) };
    });
    const name = message.name ?? names.get(message.tool_call_id ?? "");
    const { role, content } = message;
    return defined({
      role: role === "developer" ? "system" : role,
      content: Array.isArray(content) ? content.map(({ text }) => text).join("") : (content ?? ""),
      tool_calls:
        calls.length === 0 ? undefined : calls.map((call) => ({ type: "function", function: call })),
      name,
    });
  });
  const shown = shownIn(messages, row.images, at);
  const own = shown === undefined ? messages : shown.messages.map(({ message }) => message);
  return defined({ messages: own, shown, tools: rowTools(row, at) });
}

function shownIn(messages: Message[], images: unknown, at: string): ShownPrompt | undefined {
  try {
    return shownPrompt({ prompt: messages, images });
  } catch (error) {
    throw new EverturnError("IMAGE_UNUSABLE", { at, tasks: "the row", reason: messageOf(error) });
  }
}

function argumentsOf(
  { function: call }: DemonstratedFunction,
  place: { at: string; where: string },
): JsonObject {
  if (typeof call.arguments !== "string") return call.arguments;
  const value = parsed(call.arguments);
  if (isObject(value)) return value;
  throw new EverturnError("WRONG_VALUE", {
    ...place,
    actual: valueText(call.arguments),
    expected: "must be the JSON text of a mapping",
    hint: 'For example "{\\"expression\\": \\"1 + 1\\"}", or the mapping itself.',
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
