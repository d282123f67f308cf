import { defined } from "../../base/records/defined.ts";
import { fenceAt, fenceFor } from "./fences.ts";
import { jsonCall } from "./json-calls.ts";
import { jsonText } from "./json-text.ts";
import { markedFormat } from "./marked-format.ts";
import { matchAt } from "./match-at.ts";
import type { Marks } from "./scan.ts";
import { asText, textCall, textFunctions } from "./text-functions.ts";

const named = "tool_call";
const example = `\`\`\`${named}\n{"name": "…", "arguments": {…}}\n\`\`\``;

/**
 * A function with a single text argument is called by a fence with its name or a language. Others are called by a
 * `tool_call` fence with JSON.
 */
export const fenced = markedFormat({
  name: "fenced",
  models: "any model that writes code in fences",
  example,
  marks: (tools) => {
    const languages = [named, ...textFunctions(tools).map(({ spelled }) => spelled)];
    return ["```", "~~~"].map((open) => ({ open, read: fenceReader(languages) }));
  },
  calls: (block, tools) => {
    const { language, content } = fenceAt(block, block.search(/[`~]/)) ?? { language: "", content: "" };
    const called = textFunctions(tools).find(({ spelled }) => spelled === language);
    return [called === undefined ? jsonCall(content, example) : textCall(called, content)];
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

/** Fences of these languages are calls. Other fences, and marks that begin none, stay in the rest as a whole. */
function fenceReader(languages: readonly string[]): NonNullable<Marks["read"]> {
  return (text, at) => {
    const fence = fenceAt(text, at);
    if (fence === undefined) {
      const next = matchAt(/`+|~+/y, text, at)?.end ?? at;
      return { from: at, end: next, next, closed: true, isRest: true };
    }
    const { start, language, end, closed } = fence;
    return defined({
      from: start,
      end,
      next: end,
      closed,
      isRest: languages.includes(language) ? undefined : true,
    });
  };
}
