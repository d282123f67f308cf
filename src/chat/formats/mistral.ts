import type { FormatName } from "../../contracts/format-name.ts";
import type { ToolCall } from "../../contracts/message.ts";
import type { ReadCall } from "../../contracts/parsed-action.ts";
import type { ModelFormat } from "./action-format.ts";
import { jsonCalls, namedCall } from "./json-calls.ts";
import { jsonEnd, jsonText, spacesEnd } from "./json-text.ts";
import { markedFormat } from "./marked-format.ts";
import { matchAt } from "./match-at.ts";
import { type Part, think } from "./scan.ts";
import { unreadable } from "./unreadable.ts";

const open = "[TOOL_CALLS]";
const listExample = `${open}[{"name": "…", "arguments": {…}}]`;
const namedExample = `${open}NAME[ARGS]{…}`;

/** A JSON list of calls. Ids, if present, have nine letters and digits. */
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
  return markedFormat({
    name,
    models,
    example,
    marks: [
      { open, read: readPart },
      { open: "[ARGS]", read: readUnopened, bare: true },
    ],
    thoughts: [{ open: "[THINK]", close: "[/THINK]", anywhere: true }, ...think],
    calls: (block, _, mark) => {
      if (mark === 1) return [unreadable(block, `the tool call has no ${open}`, example)];
      const text = block.trim();
      const isList = text.startsWith("[") && !text.startsWith("[ARGS]");
      return isList ? listCalls(text, example) : [callNamed(text, example)];
    },
    render,
  });
}

/** `name[ARGS]{…}`, with `[CALL_ID]` and an id in between in some models. Without special tokens, `name{…}`. */
const head = /\s*([^\s[\]{}]+)\s*(?:\[CALL_ID\]([A-Za-z0-9]{9}))?(?:\[ARGS\])?/y;

/** The JSON after the token, and the name before it. The text after it belongs to the answer. */
function readPart(text: string, at: number): Part | undefined {
  const from = at + open.length;
  if ([open, "[ARGS]"].some((mark) => text.startsWith(mark, from))) return undefined;
  const end = jsonEnd(text, matchAt(head, text, from)?.end ?? from);
  return end < 0 ? undefined : { from, end, next: end, closed: true };
}

/** Arguments after a name where a call may begin, without the token before it. */
function readUnopened(text: string, at: number): Part | undefined {
  const from = spacesEnd(text, at + "[ARGS]".length);
  if (text[from] !== "{" || !/(?:^|[\n\]},])[ \t]*[\w.-]+$/.test(text.slice(Math.max(0, at - 100), at)))
    return undefined;
  const end = jsonEnd(text, from);
  const next = end < 0 ? text.length : end;
  return { from: at, end: next, next, closed: true };
}

function listCalls(block: string, example: string): ReadCall[] {
  return jsonEnd(block, 0) < 0
    ? [unreadable(block, "the tool call is not closed", example)]
    : jsonCalls(block, example);
}

function callNamed(block: string, example: string): ReadCall {
  const { groups: [name, id] = [], end: start = 0 } = matchAt(head, block, 0) ?? {};
  if (name === undefined) return unreadable(block, "the tool call names no function", example);
  if (jsonEnd(block, start) >= 0) return namedCall({ name, id, body: block.slice(start) }, block, example);
  const wrong =
    block[spacesEnd(block, start)] === "{" ? "the tool call is not closed" : "the arguments are not JSON";
  return unreadable(block, wrong, example);
}
