import type { ToolDefinition } from "../contracts/message.ts";
import { modelFormat } from "./action-format.ts";
import { jsonCall } from "./json-calls.ts";
import { jsonText } from "./json-text.ts";
import { readMarked } from "./marked-format.ts";
import { asText, textCall, textFunctions } from "./text-functions.ts";

const example = '<tool>{"name": "…", "arguments": {…}}</tool>';

/**
 * A function that takes one text has a tag of its name, `<search>…</search>`, or of a language, `<python>…</python>`; others
 * are called in `<tool>`, as JSON. An action ends with a call's tag.
 */
export const tags = modelFormat({
  name: "xml-tags",
  models: "what Search-R1, verl-tool and ReTool train",
  example,
  stopTexts: (tools) => tagsOf(tools).map(({ close }) => close),
  read: (text, tools) => {
    const functions = textFunctions(tools);
    return readMarked(text, {
      isStopped: true,
      marks: tagsOf(tools),
      dropped: ["<answer>", "</answer>"],
      example,
      calls: (written, mark) => {
        const called = functions[mark];
        return [called === undefined ? jsonCall(written, example) : textCall(called, written)];
      },
    });
  },
  render: (calls, tools) => {
    const functions = textFunctions(tools);
    return calls
      .map((call) => {
        const alone = asText(call, functions);
        if (alone !== undefined) return `<${alone.spelled}>${alone.text}</${alone.spelled}>`;
        return `<tool>${jsonText({ name: call.name, arguments: call.arguments })}</tool>`;
      })
      .join("\n");
  },
});

function tagsOf(tools: readonly ToolDefinition[]) {
  const names = textFunctions(tools).map(({ spelled }) => spelled);
  return [...names, "tool"].map((name) => ({ open: `<${name}>`, close: `</${name}>` }));
}
