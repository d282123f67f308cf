import type { ToolPlugin } from "everturn/plugin";
import { Session } from "./session.ts";
import { settingsOf } from "./settings.ts";

/** Gives each trajectory a browser, whose pages the policy reads as text. */
const browser: ToolPlugin<Session> = {
  create: ({ config }) => new Session(settingsOf(config)),

  execute: (given, { function: name, signal }, session) => session.call({ name, arguments: given }, signal),

  release: (session) => session.close(),

  snapshot: ({ saved }) => Buffer.from(JSON.stringify(saved)),

  restore: (snapshot, { config }) =>
    new Session(settingsOf(config), JSON.parse(Buffer.from(snapshot).toString())),
};

export default browser;
