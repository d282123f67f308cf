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

/** What an endpoint wrote: the message, and the action's text as the format `hermes` reads it. */
export interface Completion {
  message: TextMessage;
  text: string;
  /** The same as the endpoint tells it apart, where it does. */
  read?: ReadAction;
  finishReason: "stop" | "length";
}

/** The body of a request for what follows a conversation. Fields of `request` replace ours; null leaves one out. */
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
    /** What the images of messages are sent as, by their SHA-256. */
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

/** Reasons to end of an answer that was cut: the second is Anthropic's, the third that of a model that filled its context. */
const cut = ["length", "max_tokens", "model_context_window_exceeded"];

/** What an endpoint answered; undefined if it is no chat completion. */
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
  // a server that reads no calls in what its model writes leaves them in the text
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
 * The action's text, for people and for rewards. What a model quotes in its thought, or beside its calls, is no call: a mark there has a space
 * in it.
 */
function shownText(thought: string, said: string, calls: readonly FunctionText[]): string {
  const quoted = (text: string) => text.replace(/<(?=\/?(think|tool_call)>)/g, "< ");
  return [
    ...(thought === "" ? [] : [`<think>${quoted(thought)}</think>`]),
    ...(said === "" ? [] : [calls.length > 0 ? quoted(said) : said]),
    ...calls.map(writtenCall),
  ].join("\n");
}

/** A call as the endpoint has it. Its text is the arguments alone. */
function readCall({ function: { name, arguments: given } }: FunctionText): ReadCall {
  if (name === "") return unreadable(given, "the tool call names no tool", hermes.example);
  return namedCall({ name, body: given }, given, hermes.example);
}

/** The texts of a content in parts: what is said, and what is thought. Parts that are no text are passed over. */
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
 * The messages as an endpoint takes them: each tool's message has the id of the call that it answers, in their order, and is a
 * user's where there is no such call; a call that nobody answered is left out.
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

/** A call as Hermes' models write it. What is no JSON stays what it is: the loop tells the model so. */
function writtenCall({ function: { name, arguments: given } }: FunctionText): string {
  return `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${given.trim() === "" ? "{}" : given}}\n</tool_call>`;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
