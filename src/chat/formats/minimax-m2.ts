import { invokeTags, writeInvokes } from "./invokes.ts";
import { markedFormat } from "./marked-format.ts";
import { enclosing } from "./scan.ts";
import { taggedCalls, taggedEnd, unopened } from "./tagged-calls.ts";

const [open, close] = ["<minimax:tool_call>", "</minimax:tool_call>"];
const tags = invokeTags("", [close]);

const example =
  '<minimax:tool_call>\n<invoke name="NAME">\n<parameter name="ARGUMENT">VALUE</parameter>\n</invoke>\n</minimax:tool_call>';

/** Invocations between tags. Texts are written unquoted, other values as JSON. */
export const minimaxM2 = markedFormat({
  name: "minimax-m2",
  models: "MiniMax M2",
  example,
  marks: [enclosing({ open, close, starts: "<" }, taggedEnd(tags)), unopened('<invoke name="', close, tags)],
  calls: (text, tools) => taggedCalls(text, { tags, example, tools }),
  render: (calls) => `${open}\n${writeInvokes(calls, "")}${close}`,
});
