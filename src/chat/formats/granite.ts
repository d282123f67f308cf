import { jsonEnd } from "./json-text.ts";
import { jsonFormat } from "./marked-format.ts";
import { enclosing, type Marks } from "./scan.ts";

const [open, close] = ["<tool_call>", "</tool_call>"];
const closed = enclosing({ open, close }, jsonEnd);
const unclosed = enclosing({ open }, jsonEnd);

/** Hermes's tag, with or without its end. It is not a token here, so it is a mark only if a call follows. */
const tag: Marks = {
  open,
  bare: true,
  read: (text, at) => {
    const part = closed.read?.(text, at);
    return part?.closed ? part : unclosed.read?.(text, at);
  },
};

/** A JSON list after a token. */
export const granite = jsonFormat({
  name: "granite",
  models: "Granite 3",
  marks: { open: "<|tool_call|>" },
  others: [tag],
  list: true,
});
