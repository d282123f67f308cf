import { existsSync, writeFileSync } from "node:fs";
import { defineTool } from "everturn/plugin";

/** A calculator whose first call fails: its host, not what it was asked. */
export default defineTool({
  name: "calculator",
  description: "Computes.",
  parameters: {
    type: "object",
    properties: { expression: { type: "string" } },
    required: ["expression"],
  },
  config: { type: "object", properties: { file: { type: "string" } }, required: ["file"] },
  execute: (_, { config }) => {
    const file = String(config.file);
    if (existsSync(file)) return "4";
    writeFileSync(file, "");
    throw new Error("the first call fails");
  },
});
