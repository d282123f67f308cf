import type { ToolDefinition } from "../../contracts/message.ts";
import { jsonCall } from "./json-calls.ts";
import { jsonEnd, jsonText } from "./json-text.ts";
import { markedFormat } from "./marked-format.ts";
import { enclosing } from "./scan.ts";
import { asText, textCall, textFunctions } from "./text-functions.ts";

const example = '<tool>{"name": "…", "arguments": {…}}</tool>';

/**
 * A function that takes one text has a tag of its name, `<search>…</search>`, or of a language, `<python>…</python>`; others
 * are called in `<tool>`, as JSON. An action ends with a call's tag.
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

/** A text ends with the first closing tag, and spaces at its ends are none of it. */
function canStand({ spelled, text }: { spelled: string; text: string }): boolean {
  return text === text.trim() && !text.includes(`</${spelled}>`);
}
