import { readInvokes, writeInvokes } from "./invokes.ts";
import { markedFormat } from "./marked-format.ts";

const example =
  '<minimax:tool_call>\n<invoke name="NAME">\n<parameter name="ARGUMENT">VALUE</parameter>\n</invoke>\n</minimax:tool_call>';

/** Invocations between tags; texts stand as they are, all else as JSON. */
export const minimaxM2 = markedFormat({
  name: "minimax-m2",
  models: "MiniMax M2",
  example,
  marks: [{ open: "<minimax:tool_call>", close: "</minimax:tool_call>" }],
  calls: (text, tools) => readInvokes(text, { prefix: "", example, tools }),
  render: (calls) => `<minimax:tool_call>\n${writeInvokes(calls, "")}</minimax:tool_call>`,
});
