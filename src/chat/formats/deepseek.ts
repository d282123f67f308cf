import type { ReadCall } from "../../contracts/parsed-action.ts";
import { namedCall } from "./json-calls.ts";
import { jsonEnd, jsonText, spacesEnd } from "./json-text.ts";
import { markedFormat } from "./marked-format.ts";
import { matchAt } from "./match-at.ts";
import { enclosing } from "./scan.ts";
import { unreadable } from "./unreadable.ts";

const beginMark = "<｜tool▁calls▁begin｜>";
const endMark = "<｜tool▁calls▁end｜>";
const callBegin = "<｜tool▁call▁begin｜>";
const callEnd = "<｜tool▁call▁end｜>";
const separator = "<｜tool▁sep｜>";

const common = {
  marks: [enclosing({ open: callBegin, close: callEnd }, bodyEnd)],
  dropped: [beginMark, endMark],
};

const fencedExample = `${beginMark}${callBegin}function${separator}NAME\n\`\`\`json\n{…}\n\`\`\`${callEnd}${endMark}`;
const plainExample = `${beginMark}${callBegin}NAME${separator}{…}${callEnd}${endMark}`;

/** A call's type, its name, and its arguments in a fence. */
export const deepseekV3 = markedFormat({
  name: "deepseek-v3",
  models: "DeepSeek V3, R1 and its distillates",
  example: fencedExample,
  ...common,
  calls: (text) => [readCall(text, fencedExample)],
  render: (calls) => {
    const written = calls.map(
      ({ name, arguments: given }) =>
        `${callBegin}function${separator}${name}\n\`\`\`json\n${jsonText(given)}\n\`\`\`${callEnd}`,
    );
    return `${beginMark}${written.join("\n")}${endMark}`;
  },
});

/** A call's name and its arguments. */
export const deepseekV31 = markedFormat({
  name: "deepseek-v3.1",
  models: "DeepSeek V3.1",
  example: plainExample,
  ...common,
  calls: (text) => [readCall(text, plainExample)],
  render: (calls) => {
    const written = calls.map(
      ({ name, arguments: given }) => `${callBegin}${name}${separator}${jsonText(given)}${callEnd}`,
    );
    return `${beginMark}${written.join("")}${endMark}`;
  },
});

/** Reads both notations, because a model of one version may remember the other's. */
function readCall(text: string, example: string): ReadCall {
  const at = text.indexOf(separator);
  if (at < 0) return unreadable(text, `the tool call has no ${separator}`, example);
  const after = text.slice(at + separator.length).trim();
  const fence = after.indexOf("```");
  const isFenced = !after.startsWith("{") && fence >= 0;
  const name = (isFenced ? after.slice(0, fence) : text.slice(0, at)).trim();
  const body = isFenced
    ? after
        .slice(fence)
        .replace(/^```(json)?/, "")
        .replace(/```$/, "")
    : after;
  if (!/^\S+$/.test(name)) return unreadable(text, "the tool call names no function", example);
  return namedCall({ name, body }, text, example);
}

/** Where a call's arguments end, including a fence around them. */
function bodyEnd(text: string, from: number): number {
  const head = matchAt(/[^<]*<｜tool▁sep｜>/y, text, from);
  if (head === undefined) return -1;
  const fence = matchAt(/[^`{<]*```(?:json)?/y, text, head.end);
  const end = jsonEnd(text, fence?.end ?? head.end);
  if (end < 0 || fence === undefined) return end;
  const closing = spacesEnd(text, end);
  return text.startsWith("```", closing) ? closing + 3 : -1;
}
