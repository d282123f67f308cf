import type { ToolPlugin } from "everturn/plugin";

/** Does what no tool should do. */
const acts: Record<string, () => unknown> = {
  loop: () => {
    for (;;);
  },
  exit: () => process.exit(3),
  forget: () => {
    setTimeout(() => Promise.reject(new Error("nobody caught this")));
    return new Promise(() => {});
  },
  behave: () => ({ text: "fine" }),
};

const plugin: ToolPlugin = {
  execute: async ({ act }) => Object(await acts[String(act)]?.()),
};

export default plugin;
