import type { ToolPlugin } from "everturn/plugin";

/** Keeps the lines that a trajectory writes, in memory; its host fails at the line "fail". */
const plugin: ToolPlugin<string[]> = {
  create: () => [],
  execute: ({ line }, _, lines) => {
    if (line === "fail") throw new Error("the notebook's host is down");
    lines.push(String(line));
    return { text: lines.join("\n") };
  },
  release: () => {},
};

export default plugin;
