import type { ToolPlugin } from "everturn/plugin";
import { settingsOf } from "./settings.ts";
import { TrajectoryBrowser } from "./trajectory-browser.ts";

/** Gives each trajectory a browser, whose pages the policy reads as text. */
const browser: ToolPlugin<TrajectoryBrowser> = {
  create: ({ config }) => new TrajectoryBrowser(settingsOf(config)),

  execute: (given, { function: name, signal }, browsing) => browsing.call({ name, arguments: given }, signal),

  release: (browsing) => browsing.close(),

  snapshot: ({ saved }) => Buffer.from(JSON.stringify(saved)),

  restore: (snapshot, { config }) =>
    new TrajectoryBrowser(settingsOf(config), JSON.parse(Buffer.from(snapshot).toString())),
};

export default browser;
