import type { JsonObject, Task } from "everturn/plugin";

/** A message as the user's model sees it. There the model is the assistant, and the policy its user. */
export interface TalkMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

/** A conversation as the user's model sees it. */
export interface Talk {
  messages: TalkMessage[];
}

/** The assistant's words if the user speaks first. */
export const greeting = "Hello! How can I help you?";

/**
 * Returns the conversation before the policy's first words. The user's goal is in
 * `extra_info.interaction_kwargs.instruction`, or else in the user's first words. The conversation in the
 * prompt is included, without system messages.
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
