import { jsonFormat } from "./marked-format.ts";

/** Hermes's JSON between tags, which Qwen's models write too. */
export const hermes = jsonFormat({
  name: "hermes",
  models:
    "Hermes 2 Pro and 3, Qwen 2.5 and 3, QwQ, Granite 4, MiMo, Bielik, Reka, Everturn's own small models",
  marks: { open: "<tool_call>", close: "</tool_call>" },
  list: false,
});
