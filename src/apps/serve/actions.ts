import { jsonCall } from "../../chat/formats/json-calls.ts";
import { type TextFunction, textCall, textFunctions } from "../../chat/formats/text-functions.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { OfferedFunction } from "../../contracts/plan.ts";
import { actionBlocks, fence } from "./action-blocks.ts";

type Requested = { function: string; arguments: JsonObject } | { problem: string };

/** The calls in an action's text, and how to write their answers for the model. */
export interface ParsedAction {
  calls: Requested[];
  /** Writes the observation of one call's answer. */
  written(text: string): string;
}

const toolCall = { open: "<tool_call>", close: "</tool_call>" };
const example = '{"name": "…", "arguments": {…}}';

/**
 * Languages: several programs of one action are one, as in verl-tool. Several texts for another function are several
 * calls.
 */
const languages = ["python", "py", "javascript", "js", "shell", "bash", "sh"];

/**
 * The calls in a model's text, in the first of these forms that it uses; undefined if it uses none:
 * - `<tool_call>{"name": …, "arguments": …}</tool_call>`, once or more,
 * - for a function with a single text argument its name as a tag, `<search>…</search>`, or as a fence, and likewise
 *   the languages of a function with `language`, `<python>…</python>`,
 * - the JSON of a call alone.
 *
 * Each text is a call, but several programs in one language are joined into one, line after line. Text inside a thought
 * calls nothing.
 */
export function parseAction(action: string, functions: readonly OfferedFunction[]): ParsedAction | undefined {
  const names = textFunctions(functions);
  const tags = names.map(({ spelled }) => ({ open: `<${spelled}>`, close: `</${spelled}>` }));
  const { blocks, rest, calledInThought } = actionBlocks(
    action,
    [toolCall, ...tags],
    names.map(({ spelled }) => spelled),
  );
  const textsOf = (form: string) => blocks.filter((one) => one.form === form).map(({ text }) => text.trim());
  const hermes = textsOf(toolCall.open);
  if (hermes.length > 0) return { calls: hermes.map(callOf), written: inTags("tool_response") };
  for (const name of names) {
    const texts = textsOf(`<${name.spelled}>`);
    if (texts.length > 0) {
      const written = name.spelled === "search" ? information : inTags("result");
      return { calls: callsOf(name, texts), written };
    }
  }
  for (const name of names) {
    const texts = textsOf(fence + name.spelled);
    if (texts.length > 0) return { calls: callsOf(name, texts), written: fenced };
  }
  const alone = rest.trimStart().startsWith("{") ? callOf(rest) : undefined;
  if (alone !== undefined && "function" in alone) {
    // JSON without a function's name and arguments is an answer.
    const isCall =
      /"(arguments|parameters)"/.test(rest) || functions.some(({ name }) => name === alone.function);
    if (isCall) return { calls: [alone], written: inTags("tool_response") };
  }
  if (!calledInThought) return undefined;
  const problem = "the thought is not ended, so that no call in it is made. End it, then call";
  return { calls: [{ problem }], written: inTags("result") };
}

function callsOf(called: TextFunction, texts: string[]): Requested[] {
  const isCode = "language" in called.others || languages.includes(called.spelled);
  return (isCode ? [texts.join("\n")] : texts).map((text) => {
    const { name, arguments: given } = textCall(called, text);
    return { function: name, arguments: given };
  });
}

function callOf(text: string): Requested {
  const call = jsonCall(text, example);
  if ("problem" in call) return { problem: call.problem.replace(/^error: /, "") };
  return { function: call.name, arguments: call.arguments };
}

function inTags(tag: string): (text: string) => string {
  return (text) => `\n<${tag}>\n${text}\n</${tag}>\n`;
}

function fenced(text: string): string {
  return `\n\`\`\`result\n${text}\n\`\`\`\n`;
}

/** The form of verl-tool's `search_retrieval` and of Search-R1. */
function information(text: string): string {
  return `\n\n<information>${text.trim()}</information>\n\n`;
}
