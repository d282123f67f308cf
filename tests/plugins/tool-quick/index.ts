import { appendFileSync } from "node:fs";
import type { ToolPlugin } from "everturn/plugin";

/**
 * Doubles a text. Its manifest says that it only computes, so that its calls are local activities where they can be;
 * the line for each execution is the test's own way to count them.
 */
const plugin: ToolPlugin = {
  execute: ({ text }, { config, key }) => {
    const line = { tool: "double", key, time: Date.now(), pid: process.pid };
    appendFileSync(String(config.log), `${JSON.stringify(line)}\n`);
    return { text: `${text}${text}` };
  },
};

export default plugin;
