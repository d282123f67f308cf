import type { ReadCall } from "../contracts/parsed-action.ts";
import { modelFormat } from "./action-format.ts";
import { fenceAt, fenceFor } from "./fences.ts";
import { jsonCall } from "./json-calls.ts";
import { jsonText } from "./json-text.ts";
import { readMarked } from "./marked-format.ts";
import type { Marks } from "./scan.ts";
import { asText, textCall, textFunctions } from "./text-functions.ts";

const named = "tool_call";
const example = `\`\`\`${named}\n{"name": "…", "arguments": {…}}\n\`\`\``;

/** A function that takes one text is called by a fence of its name, or of a language; others by one of `tool_call`, as JSON. */
export const fenced = modelFormat({
  name: "fenced",
  models: "any model that writes code in fences",
  example,
  read: (text, tools) => {
    const functions = textFunctions(tools);
    const isCalled = (language: string) =>
      language === named || functions.some(({ spelled }) => spelled === language);
    return readMarked(text, {
      marks: ["```", "~~~"].map((open) => ({ open, read: callsAlone(isCalled) })),
      example,
      calls: (block): ReadCall[] => {
        const { language, content } = fenceAt(block, block.search(/[`~]/)) ?? { language: "", content: "" };
        const called = functions.find(({ spelled }) => spelled === language);
        return [called === undefined ? jsonCall(content, example) : textCall(called, content)];
      },
    });
  },
  render: (calls, tools) => {
    const functions = textFunctions(tools);
    return calls
      .map((call) => {
        const alone = asText(call, functions);
        const [language, content] =
          alone === undefined || alone.text.endsWith("\r")
            ? [named, jsonText({ name: call.name, arguments: call.arguments })]
            : [alone.spelled, alone.text];
        const fence = fenceFor(content);
        return `${fence}${language}\n${content}\n${fence}`;
      })
      .join("\n");
  },
});

/** Fences of some languages are calls; others, and marks that begin none, stay in the rest as a whole. */
function callsAlone(isCalled: (language: string) => boolean): NonNullable<Marks["read"]> {
  return (text, at) => {
    const fence = fenceAt(text, at);
    if (fence === undefined) {
      const next = at + (/^(`+|~+)/.exec(text.slice(at, at + 1000))?.[0].length ?? 1);
      return { from: at, end: next, next, closed: true, isRest: true };
    }
    const { start, language, end, closed } = fence;
    return { from: start, end, next: end, closed, ...(isCalled(language) ? {} : { isRest: true }) };
  };
}
