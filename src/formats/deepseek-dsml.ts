import { readInvokes, writeInvokes } from "./invokes.ts";
import { markedFormat } from "./marked-format.ts";

const prefix = "｜DSML｜";
const example = `<${prefix}function_calls>\n<${prefix}invoke name="NAME">\n<${prefix}parameter name="ARGUMENT" string="true">TEXT</${prefix}parameter>\n</${prefix}invoke>\n</${prefix}function_calls>`;

/** DeepSeek's markup language: invocations whose parameters say whether they are texts or JSON. */
export const deepseekDsml = markedFormat({
  name: "deepseek-v3.2",
  models: "DeepSeek V3.2 and V4",
  example,
  marks: ["function_calls", "tool_calls"].map((tag) => ({
    open: `<${prefix}${tag}>`,
    close: `</${prefix}${tag}>`,
  })),
  calls: (text, tools) => readInvokes(text, { prefix, example, tools }),
  render: (calls) =>
    `<${prefix}function_calls>\n${writeInvokes(calls, prefix, true)}</${prefix}function_calls>`,
});
