import type { JsonObject, Task } from "everturn/plugin";

/** A message as the user's model has it: it is the assistant there, and the policy its user. */
export interface TalkMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

/** A conversation as the user's model has it. */
export interface Talk {
  messages: TalkMessage[];
}

/** What the assistant says where the user speaks first. */
export const greeting = "Hello! How can I help you?";

/**
 * The conversation before the policy's first words. What the user is there for is `extra_info.interaction_kwargs.instruction`, and
 * without that what the user said first. What the prompt has of the conversation is in it, system messages aside.
 */
export function begun({ prompt, extra_info }: Task, { rules, end }: JsonObject): Talk {
  const { instruction } = Object(Object(extra_info).interaction_kwargs);
  const first = prompt.find(({ role }) => role === "user")?.content ?? "";
  const aim = typeof instruction === "string" ? instruction : first;
  const instructions = String(rules)
    .replaceAll("{instruction}", () => aim)
    .replaceAll("{end}", () => String(end));
  const said = prompt.flatMap(({ role, content }): TalkMessage[] =>
    role === "system" ? [] : [{ role: role === "user" ? "assistant" : "user", content }],
  );
  const opening: TalkMessage[] = said[0]?.role === "assistant" ? [{ role: "user", content: greeting }] : [];
  return { messages: [{ role: "system", content: instructions }, ...opening, ...said] };
}
