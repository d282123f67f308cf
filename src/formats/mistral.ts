import type { FormatName } from "../contracts/format-name.ts";
import { isObject } from "../contracts/json.ts";
import type { ToolCall } from "../contracts/message.ts";
import type { ReadAction, ReadCall } from "../contracts/parsed-action.ts";
import { type ModelFormat, modelFormat } from "./action-format.ts";
import { callOf } from "./json-calls.ts";
import { jsonEnd, jsonOf, jsonText, spacesEnd } from "./json-text.ts";
import { readMarked } from "./marked-format.ts";
import { type Marks, think } from "./scan.ts";
import { unreadable } from "./unreadable.ts";

const open = "[TOOL_CALLS]";
const listExample = `${open}[{"name": "…", "arguments": {…}}]`;
const marks: readonly Marks[] = [{ open }];
const thoughts: readonly Marks[] = [{ open: "[THINK]", close: "[/THINK]" }, ...think];
const namedExample = `${open}NAME[ARGS]{…}`;

/** A JSON list of calls; ids, where there are some, have nine letters and digits. */
export const mistralJson = mistralFormat(
  "mistral-json",
  "Mistral 7B 0.3, Nemo, Large 2",
  listExample,
  (calls) => {
    const written = calls.map(({ name, arguments: given }) => jsonText({ name, arguments: given }));
    return `${open}[${written.join(", ")}]`;
  },
);

/** The token before each call, then its name and its arguments. */
export const mistral = mistralFormat(
  "mistral",
  "Mistral Small 3.2, Ministral 3, Magistral, Devstral",
  namedExample,
  (calls) => calls.map(({ name, arguments: given }) => `${open}${name}[ARGS]${jsonText(given)}`).join(""),
);

function mistralFormat(
  name: FormatName,
  models: string,
  example: string,
  render: (calls: readonly ToolCall[]) => string,
): ModelFormat {
  return modelFormat({
    ...{ name, models, example, marks, thoughts, render },
    read: (text) => readEither(text, example),
  });
}

function readEither(text: string, example: string): ReadAction {
  const after: string[] = [];
  const read = readMarked(text, {
    marks,
    thoughts,
    example,
    calls: (block) => {
      const { calls, rest } =
        block.startsWith("[") && !block.startsWith("[ARGS]")
          ? listCalls(block, example)
          : namedCall(block, example);
      after.push(rest);
      return calls;
    },
  });
  return { ...read, answer: [read.answer, ...after].filter((part) => part.trim() !== "").join("\n") };
}

function listCalls(block: string, example: string): { calls: ReadCall[]; rest: string } {
  const end = jsonEnd(block, 0);
  const value = end < 0 ? undefined : jsonOf(block.slice(0, end));
  if (!Array.isArray(value)) {
    const wrong = end < 0 ? "the tool call is not closed" : "the tool call is not JSON";
    return { calls: [unreadable(block, wrong, example)], rest: "" };
  }
  const calls = value.map((one) => callOf(one, JSON.stringify(one), example));
  return { calls, rest: block.slice(end) };
}

/** `name[ARGS]{…}`, with `[CALL_ID]` and an id between in some models; where special tokens are not shown, `name{…}`. */
function namedCall(block: string, example: string): { calls: ReadCall[]; rest: string } {
  const refused = (wrong: string) => ({ calls: [unreadable(block, wrong, example)], rest: "" });
  const [head, name, , id] = /^([^\s[\]{}]+)\s*(\[CALL_ID\]([A-Za-z0-9]{9}))?(\[ARGS\])?/.exec(block) ?? [];
  if (head === undefined || name === undefined) return refused("the tool call names no function");
  const start = spacesEnd(block, head.length);
  const end = jsonEnd(block, start);
  if (end < 0)
    return refused(block[start] === "{" ? "the tool call is not closed" : "the arguments are not JSON");
  const given = jsonOf(block.slice(start, end));
  if (given === undefined) return refused("the arguments are not JSON");
  if (!isObject(given)) return refused("the arguments are not an object");
  const call = { ...(id === undefined ? {} : { id }), name, arguments: given };
  return { calls: [call], rest: block.slice(end) };
}
