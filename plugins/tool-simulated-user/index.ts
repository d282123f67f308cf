import type { ToolPlugin } from "everturn/plugin";
import { nextWords } from "./ask.ts";
import { begun, greeting, type Talk } from "./talk.ts";

/**
 * Returns the next words of a user that a model simulates. Its state is the conversation from the user's
 * view.
 */
const simulatedUser: ToolPlugin<Talk> = {
  create: ({ task, config }) => begun(task, config),
  execute: async ({ said = greeting }, { config, signal }, talk) => {
    const heard = [...talk.messages, { role: "user" as const, content: String(said) }];
    const words = await nextWords(heard, config, signal);
    talk.messages = [...heard, { role: "assistant", content: words }];
    const end = words.indexOf(String(config.end));
    return end === -1 ? { text: words } : { text: words.slice(0, end).trim(), done: true };
  },
  release: () => {},
  snapshot: (talk) => Buffer.from(JSON.stringify(talk)),
  restore: (snapshot) => JSON.parse(Buffer.from(snapshot).toString()),
};

export default simulatedUser;
