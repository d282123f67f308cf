import { isObject, type JsonObject, type JsonValue } from "../../contracts/json.ts";
import { imagePlaceholder, videoPlaceholder } from "./shown-images.ts";

/**
 * Converts a row whose prompt has OpenAI's content parts to verl's form: texts with `<image>` in place of each
 * image, and the column `images`. A part `{ type: "image" }` without an image takes the next one of that column. Parts
 * with videos become `<video>` and the column `videos`. Other rows, and rows with other kinds of parts, stay unchanged.
 */
export function withoutParts(row: unknown): unknown {
  if (!isObject(row) || !Array.isArray(row.prompt)) return row;
  if (!row.prompt.some((message) => isObject(message) && Array.isArray(message.content))) return row;
  const found: (JsonValue | undefined)[] = [];
  const videos: JsonValue[] = [];
  const prompt: JsonValue[] = [];
  for (const message of row.prompt) {
    if (!isObject(message) || !Array.isArray(message.content)) {
      prompt.push(message);
      continue;
    }
    const texts = message.content.map((part) => videoText(part, videos) ?? textOf(part, found));
    if (texts.includes(undefined)) return row;
    prompt.push({ ...message, content: texts.join("") });
  }
  if (videos.length > 0) return { ...row, prompt, videos };
  const own = found.filter((image) => image !== undefined);
  if (own.length === 0) return { ...row, prompt };
  return own.length < found.length || row.images !== undefined ? row : { ...row, prompt, images: own };
}

/** The placeholder of a part with a video, which is added to `videos`. Undefined for other parts. */
function videoText(part: JsonValue, videos: JsonValue[]): string | undefined {
  if (!isObject(part) || !/^(input_)?video(_url)?$/.test(String(part.type))) return undefined;
  videos.push(part);
  return videoPlaceholder;
}

/** A part's text, or an image's placeholder, with the image added to `found`. Undefined for other parts. */
function textOf(part: JsonValue, found: (JsonValue | undefined)[]): string | undefined {
  if (!isObject(part)) return undefined;
  const { type, text } = part;
  if (type === "text" || type === "input_text") return typeof text === "string" ? text : undefined;
  if (type !== "image" && type !== "image_url" && type !== "input_image") return undefined;
  found.push(imageIn(part));
  return imagePlaceholder;
}

function imageIn({ image_url: linked, image, path, url, bytes }: JsonObject): JsonValue | undefined {
  if (isObject(linked)) return linked.url;
  const [given] = [linked, image, path, url].filter((one) => one !== undefined);
  return given ?? (bytes === undefined ? undefined : { bytes });
}
