import { jsonFormat } from "./marked-format.ts";

/** A JSON list between tags. */
export const nemotron = jsonFormat({
  name: "nemotron",
  models: "Nemotron Nano 2",
  marks: { open: "<TOOLCALL>", close: "</TOOLCALL>" },
  list: true,
});
