import { invokeTags, writeInvokes } from "./invokes.ts";
import { markedFormat } from "./marked-format.ts";
import { enclosing } from "./scan.ts";
import { taggedCalls, taggedEnd, unopened } from "./tagged-calls.ts";

const prefix = "｜DSML｜";
const example = `<${prefix}function_calls>\n<${prefix}invoke name="NAME">\n<${prefix}parameter name="ARGUMENT" string="true">TEXT</${prefix}parameter>\n</${prefix}invoke>\n</${prefix}function_calls>`;

const blocks = ["function_calls", "tool_calls"].map((tag) => ({
  open: `<${prefix}${tag}>`,
  close: `</${prefix}${tag}>`,
}));
const tags = invokeTags(
  prefix,
  blocks.map(({ close }) => close),
);

/** DeepSeek's markup language: invocations whose parameters declare whether they are text or JSON. */
export const deepseekDsml = markedFormat({
  name: "deepseek-v3.2",
  models: "DeepSeek V3.2 and V4",
  example,
  marks: [
    ...blocks.map((block) => enclosing(block, taggedEnd(tags))),
    ...blocks.slice(0, 1).map(({ close }) => unopened(`<${prefix}invoke name="`, close, tags)),
  ],
  calls: (text, tools) => taggedCalls(text, { tags, example, tools }),
  render: (calls) =>
    `<${prefix}function_calls>\n${writeInvokes(calls, prefix, true)}</${prefix}function_calls>`,
});
