import type { ToolPlugin } from "everturn/plugin";

/** Hands in the answer: the trajectory ends, and rewards read it as the trajectory's answer. */
const finish: ToolPlugin = {
  execute: ({ answer }) => ({ text: String(answer), done: true }),
};

export default finish;
