import type { JsonValue, ToolPlugin } from "everturn/plugin";

/** Does what no tool should do. */
const acts: Record<string, () => Promise<JsonValue> | JsonValue> = {
  loop: () => {
    for (;;);
  },
  exit: () => process.exit(3),
  forget: () => {
    setTimeout(() => Promise.reject(new Error("nobody caught this")));
    return new Promise(() => {});
  },
  behave: () => "fine",
  stumble: () => JSON.parse("{}").missing.name,
};

const plugin: ToolPlugin = {
  execute: ({ act }) => acts[String(act)]?.() ?? null,
};

export default plugin;
