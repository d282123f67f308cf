import type { ToolPlugin } from "everturn/plugin";

/** Submits the answer. The trajectory ends, and rewards read this answer. */
const finish: ToolPlugin = {
  execute: ({ answer }) => ({ text: String(answer), done: true }),
};

export default finish;
