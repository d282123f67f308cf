import type { ToolDefinition } from "../../contracts/message.ts";
import { jsonCall } from "./json-calls.ts";
import { jsonEnd, jsonText } from "./json-text.ts";
import { markedFormat } from "./marked-format.ts";
import { enclosing } from "./scan.ts";
import { asText, textCall, textFunctions } from "./text-functions.ts";

const example = '<tool>{"name": "…", "arguments": {…}}</tool>';

/**
 * A function with a single text argument has a tag with its name, `<search>…</search>`, or with a language,
 * `<python>…</python>`. Others are called in `<tool>`, as JSON. A call's closing tag ends the action.
 */
export const tags = markedFormat({
  name: "xml-tags",
  models: "models trained by Search-R1, verl-tool and ReTool",
  example,
  stopTexts: (tools) => textNames(tools).map((name) => `</${name}>`),
  isStopped: true,
  marks: tagsOf,
  dropped: ["<answer>", "</answer>"],
  calls: (block, tools, mark) => {
    const called = textFunctions(tools)[mark];
    const text = block.trim();
    return [called === undefined ? jsonCall(text, example) : textCall(called, text)];
  },
  render: (calls, tools) => {
    const functions = textFunctions(tools);
    return calls
      .map((call) => {
        const alone = asText(call, functions);
        if (alone !== undefined && canStand(alone))
          return `<${alone.spelled}>${alone.text}</${alone.spelled}>`;
        return `<tool>${jsonText({ name: call.name, arguments: call.arguments })}</tool>`;
      })
      .join("\n");
  },
});

function tagsOf(tools: readonly ToolDefinition[]) {
  const around = (name: string) => ({ open: `<${name}>`, close: `</${name}>` });
  return textNames(tools).map((name) => (name === "tool" ? enclosing(around(name), jsonEnd) : around(name)));
}

function textNames(tools: readonly ToolDefinition[]): string[] {
  return [...textFunctions(tools).map(({ spelled }) => spelled), "tool"];
}

/** Whether a text can be written in a tag: the first closing tag ends it, and outer spaces are dropped. */
function canStand({ spelled, text }: { spelled: string; text: string }): boolean {
  return text === text.trim() && !text.includes(`</${spelled}>`);
}
