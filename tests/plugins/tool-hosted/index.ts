import type { ToolPlugin } from "everturn/plugin";

/** A calculator behind HTTP: any answer but 200 is a failure of its host. */
const plugin: ToolPlugin = {
  execute: async (parameters, { config, key, signal }) => {
    const body = JSON.stringify({ ...parameters, key });
    const response = await fetch(String(config.url), { method: "POST", body, signal });
    if (!response.ok) throw new Error(`the calculator's host answered ${response.status}`);
    return { text: await response.text() };
  },
};

export default plugin;
