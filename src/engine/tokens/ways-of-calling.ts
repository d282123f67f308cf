import type { ToolDefinition } from "../../contracts/message.ts";
import type { ShownMessage } from "./chat-template.ts";
import { placeholder } from "./follow-up.ts";

/**
 * How a template wants to be shown an action and what tools answered it:
 * - `calls`: the action as `tool_calls` with an object of arguments, `written-calls`: with a text of them, the answers as messages of the role `tool`;
 * - `text`: the action as text, the answers as messages of the role `tool`;
 * - `user`: the action as text, the answers as one message of the user.
 */
export type ToolStyle = "calls" | "written-calls" | "text" | "user";

export const waysOfCalling: readonly ToolStyle[] = ["calls", "written-calls", "text", "user"];

/** A chat that ends with an action for which `placeholder` stands, what follows it, and the tools that it calls, as a template wants them. */
export interface ShownChat {
  chat: ShownMessage[];
  next: ShownMessage[];
  tools: ToolDefinition[];
}

/**
 * Shows a template the messages after an action; those of tools come first, and there is one at least. `earlier` calls were made and answered before it: some templates number
 * calls.
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

/** Shows a template messages of people after an action that calls no tool. Some templates move the tools behind it, others want some. */
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

/** Messages of the user that follow each other are one: many templates want turns to alternate. */
function asUser(messages: readonly ShownMessage[]): ShownMessage[] {
  const merged: ShownMessage[] = [];
  for (const message of messages) {
    const role = message.role === "tool" ? "user" : message.role;
    const last = merged.at(-1);
    if (last?.role === role) last.content = `${last.content}\n${message.content}`;
    else merged.push({ role, content: message.content });
  }
  return merged;
}
