import type { EverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import type { ToolResponse } from "../../contracts/tool.ts";
import { checkedMetrics, invalidAnswer, isNumber, isPlain } from "./checked-answer.ts";
import { type CheckedMedia, checkedImage, checkedVideo, mediaNote } from "./checked-media.ts";

/** A tool's answer. `text` is all that the model reads, with a note for each of `media`, in their order. */
export interface CheckedResponse
  extends Pick<ToolResponse, "error" | "reward" | "metrics" | "invalid" | "done"> {
  text: string;
  media?: CheckedMedia[];
}

type Refuse = (expected: string) => EverturnError;

const expected = "it must be { text } or { content }, or a value that JSON can hold";

const words = new Set(["text", "content", "error", "reward", "metrics", "invalid", "done"]);

/**
 * Validates a tool's answer. A plain value becomes its text. An object or a list that is not a response
 * becomes JSON. Throws PLUGIN_ANSWER_INVALID.
 */
export function checkedResponse(plugin: string, given: unknown): CheckedResponse {
  const refuse: Refuse = (reason) => invalidAnswer(plugin, "execute", given, reason);
  const plain = plainText(given);
  if (plain !== undefined) return { text: plain };
  if (!isPlain(given)) throw refuse(expected);
  if (!isResponse(given)) return { text: jsonText(given, () => refuse(expected)) };
  const { text, content = [], error, reward, metrics, invalid, done } = given;
  const said = text === undefined ? "" : plainText(text);
  if (said === undefined) throw refuse("“text” must be text");
  if (!Array.isArray(content)) throw refuse("“content” must be a list of parts");
  if (error !== undefined && typeof error !== "boolean") throw refuse("“error” must be true or false");
  if (done !== undefined && typeof done !== "boolean") throw refuse("“done” must be true or false");
  if (reward !== undefined && !isNumber(reward)) throw refuse("“reward” must be a number");
  if (invalid !== undefined && typeof invalid !== "string")
    throw refuse("“invalid” must be the reason, as text");
  const media: CheckedMedia[] = [];
  const parts = content.map((part, index) => partText(part, `content[${index}]`, media, refuse));
  const errorLine = invalid === undefined ? [] : [`error: ${invalid}`];
  return defined({
    text: [...errorLine, said, ...parts].filter((part) => part !== "").join("\n"),
    media: media.length === 0 ? undefined : media,
    error,
    reward,
    ...checkedMetrics(metrics, refuse),
    invalid,
    done: done === true ? true : undefined,
  });
}

/** Returns the text that the model reads of a part. Adds an image or a video to `media`. */
function partText(part: unknown, place: string, media: CheckedMedia[], refuse: Refuse): string {
  if (!isPlain(part)) throw refuse(`“${place}” must be a part, { type, … }`);
  switch (part.type) {
    case "text":
      if (typeof part.text !== "string") throw refuse(`“${place}.text” must be text`);
      return part.text;
    case "json":
      return jsonText(part.value, () => refuse(`“${place}.value” must be a value that JSON can hold`));
    case "image":
    case "video": {
      const checked =
        part.type === "image" ? checkedImage(part, place, refuse) : checkedVideo(part, place, refuse);
      media.push(checked);
      const number = media.filter(({ type }) => type === checked.type).length;
      return mediaNote(checked, number);
    }
    default:
      throw refuse(`“${place}.type” must be text, json, image or video`);
  }
}

/** Whether an object is a response, rather than a value that happens to have these keys. */
function isResponse(given: Record<string, unknown>): boolean {
  if (Array.isArray(given)) return false;
  if ("text" in given) return true;
  const { content, invalid } = given;
  if (Array.isArray(content) && content.every((part) => isPlain(part) && typeof part.type === "string"))
    return true;
  return typeof invalid === "string" && Object.keys(given).every((key) => words.has(key));
}

/** A value as JSON on one line, with its keys in their own order. */
function jsonText(value: unknown, refused: () => EverturnError): string {
  try {
    const text: unknown = JSON.stringify(value);
    if (typeof text === "string") return text;
  } catch {
    // the value is circular or has a number that JSON can't represent
  }
  throw refused();
}

function plainText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" || typeof value === "bigint"
    ? String(value)
    : undefined;
}
