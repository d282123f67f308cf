import type { ToolPlugin } from "everturn/plugin";

/** Reverses a text on a host behind HTTP: any answer but 200 is a failure of the host. */
const plugin: ToolPlugin = {
  execute: async ({ text }, { config, key, signal }) => {
    const body = JSON.stringify({ text, key });
    const response = await fetch(String(config.url), { method: "POST", body, signal });
    if (!response.ok) throw new Error(`the host answered ${response.status}`);
    return { text: await response.text() };
  },
};

export default plugin;
