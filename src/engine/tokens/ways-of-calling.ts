import { defined } from "../../base/records/defined.ts";
import type { ToolDefinition } from "../../contracts/message.ts";
import type { ShownMessage } from "./chat-template.ts";
import { placeholder } from "./follow-up.ts";

/**
 * The style in which a template accepts an action and the tools' answers.
 * - `calls`: the action as `tool_calls` with arguments as an object, the answers as messages of the role `tool`.
 * - `written-calls`: the same with arguments as text.
 * - `text`: the action as text, the answers as messages of the role `tool`.
 * - `user`: the action as text, the answers as one user message.
 */
export type ToolStyle = "calls" | "written-calls" | "text" | "user";

export const waysOfCalling: readonly ToolStyle[] = ["calls", "written-calls", "text", "user"];

/**
 * A chat in the style that a template needs: messages up to an action that contains `placeholder`, the messages after
 * it, and the tools that it calls.
 */
export interface ShownChat {
  chat: ShownMessage[];
  next: ShownMessage[];
  tools: ToolDefinition[];
}

/**
 * Builds a chat with the messages after an action. Tool messages come first, and there is at least one. `earlier` is
 * the number of calls made and answered before it, because some templates number calls.
 */
export function shownCalls(messages: readonly ShownMessage[], way: ToolStyle, earlier: number): ShownChat {
  const past = Array.from({ length: earlier }, (_, at) => {
    const answer = { ...answered, tool_call_id: `past${String(at).padStart(5, "0")}` };
    return [...shownCalls([answer], way, 0).chat, answer];
  }).flat();
  const others = messages.findIndex(({ role }) => role !== "tool");
  const answers = messages.slice(0, others < 0 ? messages.length : others);
  const named = answers.map((one, at) => ({
    ...one,
    name: one.name ?? "tool",
    tool_call_id: one.tool_call_id ?? `call${String(at).padStart(5, "0")}`, // Mistral's have nine characters
  }));
  const next = [...named, ...messages.slice(answers.length)];
  const tools = [...new Set(named.map(({ name }) => name))].map(toolOf);
  if (way === "user") return { chat: [...past, question, text], next: asUser(messages), tools };
  if (way === "text") return { chat: [...past, question, text], next, tools };
  const given = { [argument]: placeholder };
  const calls: ShownMessage = {
    role: "assistant",
    content: "",
    tool_calls: named.map(({ name, tool_call_id: id }) => ({
      type: "function" as const,
      id,
      function: { name, arguments: way === "calls" ? given : JSON.stringify(given) },
    })),
  };
  return { chat: [...past, question, calls], next, tools };
}

const question: ShownMessage = { role: "user", content: "?" };
const text: ShownMessage = { role: "assistant", content: placeholder };
const answered: ShownMessage = { role: "tool", name: "tool", content: "?" };
const argument = "argument";

/**
 * Builds chats with people's messages after an action without calls. Some templates move the tools after it, and others
 * require some.
 */
export function shownText(messages: readonly ShownMessage[]): ShownChat[] {
  const shown = { chat: [question, text], next: [...messages] };
  return [
    { ...shown, tools: [] },
    { ...shown, tools: [toolOf("tool")] },
  ];
}

function toolOf(name: string): ToolDefinition {
  const properties = { [argument]: { type: "string", description: "A text." } };
  return { name, description: "A tool.", parameters: { type: "object", properties, required: [argument] } };
}

/** Joins consecutive user messages, because many templates require alternating turns. */
function asUser(messages: readonly ShownMessage[]): ShownMessage[] {
  const merged: ShownMessage[] = [];
  for (const message of messages) {
    const role = message.role === "tool" ? "user" : message.role;
    const last = merged.at(-1);
    const { content, images } = message;
    if (last?.role === role) merged[merged.length - 1] = joined(last, message);
    else merged.push(defined({ role, content, images }));
  }
  return merged;
}

/** Joins two messages of one role by a line break. The images of the second move along with its text. */
function joined(one: ShownMessage, other: ShownMessage): ShownMessage {
  const start = one.content.length + 1;
  const own = (one.images ?? []).map((image) => ({ ...image, at: image.at ?? one.content.length }));
  const moved = (other.images ?? []).map((image) => ({
    ...image,
    at: start + (image.at ?? other.content.length),
  }));
  const images = [...own, ...moved];
  const content = `${one.content}\n${other.content}`;
  return defined({ role: one.role, content, images: images.length === 0 ? undefined : images });
}
