import { isObject } from "../contracts/json.ts";
import type { ReadCall } from "../contracts/parsed-action.ts";
import { jsonOf, jsonText } from "./json-text.ts";
import { markedFormat } from "./marked-format.ts";
import { unreadable } from "./unreadable.ts";

const begin = "<｜tool▁calls▁begin｜>";
const end = "<｜tool▁calls▁end｜>";
const callBegin = "<｜tool▁call▁begin｜>";
const callEnd = "<｜tool▁call▁end｜>";
const separator = "<｜tool▁sep｜>";

const common = {
  marks: [{ open: callBegin, close: callEnd }],
  dropped: [begin, end],
};

const fencedExample = `${begin}${callBegin}function${separator}NAME\n\`\`\`json\n{…}\n\`\`\`${callEnd}${end}`;
const plainExample = `${begin}${callBegin}NAME${separator}{…}${callEnd}${end}`;

/** A call's type, its name, and its arguments in a fence. */
export const deepseekV3 = markedFormat({
  ...{ name: "deepseek-v3", models: "DeepSeek V3, R1 and its distillates", example: fencedExample },
  ...common,
  calls: (text) => [readCall(text, fencedExample)],
  render: (calls) => {
    const written = calls.map(
      ({ name, arguments: given }) =>
        `${callBegin}function${separator}${name}\n\`\`\`json\n${jsonText(given)}\n\`\`\`${callEnd}`,
    );
    return `${begin}${written.join("\n")}${end}`;
  },
});

/** A call's name and its arguments. */
export const deepseekV31 = markedFormat({
  ...{ name: "deepseek-v3.1", models: "DeepSeek V3.1", example: plainExample },
  ...common,
  calls: (text) => [readCall(text, plainExample)],
  render: (calls) => {
    const written = calls.map(
      ({ name, arguments: given }) => `${callBegin}${name}${separator}${jsonText(given)}${callEnd}`,
    );
    return `${begin}${written.join("")}${end}`;
  },
});

/** Either way of writing it: of two versions of one model, one may remember the other's. */
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
  const given = body.trim() === "" ? {} : jsonOf(body.trim());
  if (given === undefined) return unreadable(text, "the arguments are not JSON", example);
  if (!isObject(given)) return unreadable(text, "the arguments are not an object", example);
  return { name, arguments: given };
}
