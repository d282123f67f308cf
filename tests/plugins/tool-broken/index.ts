import { existsSync } from "node:fs";
import type { ToolPlugin } from "everturn/plugin";

/** Fails until the file `mended` is there. Its manifest says that it only computes, so that it is called on the spot. */
const plugin: ToolPlugin = {
  execute: (_, { config }) => {
    if (!existsSync(String(config.mended))) throw new Error("the dice are lost");
    return { text: "4" };
  },
};

export default plugin;
