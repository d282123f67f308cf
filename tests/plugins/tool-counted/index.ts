import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { ToolPlugin } from "everturn/plugin";

/** Counts characters, with a side effect that can be counted and timed: a line in a log for each execution. */
const plugin: ToolPlugin = {
  execute: async ({ text }, { config, key, signal }) => {
    const line = { tool: "count", key, time: Date.now(), pid: process.pid };
    appendFileSync(String(config.log), `${JSON.stringify(line)}\n`);
    await sleep(Number(config.pause), undefined, { signal });
    return { text: String(String(text).length) };
  },
};

export default plugin;
