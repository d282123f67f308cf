import { modelFormat } from "./action-format.ts";
import { jsonCall } from "./json-calls.ts";
import { jsonText } from "./json-text.ts";
import { readMarked } from "./marked-format.ts";
import { asText, textCall, textFunctions } from "./text-functions.ts";

const fence = "```";
const example = `${fence}tool_call\n{"name": "…", "arguments": {…}}\n${fence}`;

/** A function that takes one text is called by a fence of its name, or of a language; others by one of `tool_call`, as JSON. */
export const fenced = modelFormat({
  name: "fenced",
  models: "any model that writes code in fences",
  example,
  read: (text, tools) => {
    const functions = textFunctions(tools);
    const names = [...functions.map(({ spelled }) => spelled), "tool_call"];
    return readMarked(text, {
      marks: names.map((name) => ({ open: `${fence}${name}\n`, close: fence })),
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
        if (alone !== undefined) return `${fence}${alone.spelled}\n${alone.text}\n${fence}`;
        return `${fence}tool_call\n${jsonText({ name: call.name, arguments: call.arguments })}\n${fence}`;
      })
      .join("\n");
  },
});
