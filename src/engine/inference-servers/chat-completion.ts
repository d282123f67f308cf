import { defined } from "../../base/records/defined.ts";
import { hermes } from "../../chat/formats/hermes.ts";
import { namedCall } from "../../chat/formats/json-calls.ts";
import { unreadable } from "../../chat/formats/unreadable.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { ToolDefinition } from "../../contracts/message.ts";
import type { ReadAction, ReadCall } from "../../contracts/parsed-action.ts";
import type { SamplingParameters } from "../../contracts/policy.ts";
import type { Conversation, FunctionText, TextMessage } from "./conversation-tokens.ts";
import { withParts } from "./image-parts.ts";

/** An endpoint's answer: its message, and the action's text in the format `hermes`. */
export interface Completion {
  message: TextMessage;
  text: string;
  /** The action's parts, if the endpoint returns them separately. */
  read?: ReadAction;
  finishReason: "stop" | "length";
}

/**
 * Returns the body of a request for the message that follows a conversation. Fields of `request` override the usual
 * ones; null removes one.
 */
export function chatRequest(
  { tools, messages }: Conversation,
  {
    sampling,
    seed,
    request,
    images = new Map(),
  }: {
    sampling: SamplingParameters;
    seed: number;
    request: JsonObject;
    /** The URLs of the messages' images, by their SHA-256. */
    images?: ReadonlyMap<string, string>;
  },
): JsonObject {
  const { temperature, topP, maxTokens, stop } = sampling;
  const own = {
    messages: withParts(answered(messages), images),
    tools: tools.length > 0 ? tools.map((tool) => ({ type: "function", function: tool })) : undefined,
    temperature,
    seed,
    max_completion_tokens: maxTokens,
    top_p: topP,
    stop,
  };
  const fields: JsonObject = JSON.parse(JSON.stringify({ ...own, ...request }));
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/**
 * Finish reasons of an answer that was cut. The second is Anthropic's, and the third means that the model's context was
 * full.
 */
const cut = ["length", "max_tokens", "model_context_window_exceeded"];

/** Parses an endpoint's answer. Returns undefined if it is not a chat completion. */
export function completionOf(body: unknown, tools: readonly ToolDefinition[]): Completion | undefined {
  const [choice] = Object.values(Object(Object(body).choices));
  const { message, finish_reason: reason } = Object(choice);
  if (Object(message).role !== "assistant") return undefined;
  const { content, reasoning_content, reasoning, thinking, tool_calls, function_call, refusal } = message;
  const parts = partsOf(content);
  const said = parts.said || textOf(refusal);
  const [thought = ""] = [reasoning_content, reasoning, thinking]
    .map((one) => textOf(one) || partsOf(one).said)
    .concat(parts.thought)
    .filter((one) => one !== "");
  const old = function_call === undefined || function_call === null ? [] : [{ function: function_call }];
  const calls = [...Object.values(tool_calls ?? {}), ...old].map(callOf);
  const isStructured = thought !== "" || calls.length > 0;
  // Servers that don't parse calls leave them in the text.
  const read = calls.length > 0 ? calls : callsIn(said, tools);
  return defined({
    message: defined<TextMessage>({
      role: "assistant",
      content: said,
      tool_calls: read.length > 0 ? read : undefined,
    }),
    text: shownText(thought, said, calls),
    read: isStructured ? { reasoning: thought, answer: said, calls: calls.map(readCall) } : undefined,
    finishReason: cut.includes(textOf(reason)) ? "length" : "stop",
  });
}

/**
 * Returns the action's text for people and rewards. Marks that a model quotes in its thoughts or next to its calls are
 * not calls, so they get a space.
 */
function shownText(thought: string, said: string, calls: readonly FunctionText[]): string {
  const quoted = (text: string) => text.replace(/<(?=\/?(think|tool_call)>)/g, "< ");
  return [
    ...(thought === "" ? [] : [`<think>${quoted(thought)}</think>`]),
    ...(said === "" ? [] : [calls.length > 0 ? quoted(said) : said]),
    ...calls.map(writtenCall),
  ].join("\n");
}

/** Returns a call as the endpoint parsed it. Its text consists of the arguments alone. */
function readCall({ function: { name, arguments: given } }: FunctionText): ReadCall {
  if (name === "") return unreadable(given, "the tool call names no tool", hermes.example);
  return namedCall({ name, body: given }, given, hermes.example);
}

/** Returns the texts and the thoughts in a content list. Other parts are ignored. */
function partsOf(content: unknown): { said: string; thought: string } {
  if (!Array.isArray(content)) return { said: textOf(content), thought: "" };
  let [said, thought] = ["", ""];
  for (const part of content) {
    if (typeof part === "string") said += part;
    const { type, text, refusal, thinking, summary } = Object(part);
    if (type === "thinking" || type === "reasoning")
      thought += [thinking, text, summary].map((one) => partsOf(one).said).find((one) => one !== "") ?? "";
    else said += textOf(text) || textOf(refusal);
  }
  return { said, thought };
}

/**
 * Prepares messages for an endpoint. Each tool message gets the id of the call that it answers, in order. A tool
 * message without a call becomes a user message. Calls without an answer are removed.
 */
function answered(messages: readonly TextMessage[]): TextMessage[] {
  let open: FunctionText[] = [];
  return messages.map((message, at) => {
    if (message.role === "assistant") {
      const next = messages.findIndex(({ role }, after) => after > at && role !== "tool");
      const answers = (next === -1 ? messages.length : next) - at - 1;
      const { tool_calls = [], ...rest } = message;
      open = tool_calls.slice(0, answers);
      return open.length === 0 ? rest : { ...rest, tool_calls: [...open] };
    }
    if (message.role !== "tool") return message;
    const call = open.shift();
    const { content, images } = message;
    const said = defined<Pick<TextMessage, "content" | "images">>({ content, images });
    return call === undefined ? { role: "user", ...said } : { role: "tool", tool_call_id: call.id, ...said };
  });
}

function callsIn(text: string, tools: readonly ToolDefinition[]): FunctionText[] {
  return hermes.parse(text, { tools }).calls.flatMap((call) => {
    if (!("name" in call)) return [];
    const { id, name } = call;
    return [{ id, type: "function", function: { name, arguments: JSON.stringify(call.arguments) } }];
  });
}

function callOf(call: unknown, at: number): FunctionText {
  const { id, function: called } = Object(call);
  const { name, arguments: given } = Object(called);
  const text = typeof given === "string" ? given : JSON.stringify(given ?? {});
  return {
    id: textOf(id) || `call${at}`,
    type: "function",
    function: { name: textOf(name), arguments: text },
  };
}

/**
 * Writes a call as Hermes models do. Arguments that are not JSON stay unchanged, so that the loop reports the problem
 * to the model.
 */
function writtenCall({ function: { name, arguments: given } }: FunctionText): string {
  return `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${given.trim() === "" ? "{}" : given}}\n</tool_call>`;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
