import { jsonFormat } from "./marked-format.ts";

/** A JSON list after a token. */
export const granite = jsonFormat({
  name: "granite",
  models: "Granite 3",
  marks: { open: "<|tool_call|>" },
  list: true,
});
