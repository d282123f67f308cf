import { isObject, type JsonObject, type JsonValue } from "../../contracts/json.ts";

/**
 * A row whose prompt has OpenAI's content parts, in verl's form: texts with `<image>` where an image stands, and the column `images`. A part `{ type: "image" }`
 * without an image is the next of that column. What is no such row, or has parts of another kind, is left as it is.
 */
export function withoutParts(row: unknown): unknown {
  if (!isObject(row) || !Array.isArray(row.prompt)) return row;
  if (!row.prompt.some((message) => isObject(message) && Array.isArray(message.content))) return row;
  const found: (JsonValue | undefined)[] = [];
  const prompt: JsonValue[] = [];
  for (const message of row.prompt) {
    if (!isObject(message) || !Array.isArray(message.content)) {
      prompt.push(message);
      continue;
    }
    const texts = message.content.map((part) => textOf(part, found));
    if (texts.includes(undefined)) return row;
    prompt.push({ ...message, content: texts.join("") });
  }
  const own = found.filter((image) => image !== undefined);
  if (own.length === 0) return { ...row, prompt };
  return own.length < found.length || row.images !== undefined ? row : { ...row, prompt, images: own };
}

/** A part's text; an image's placeholder, and the image to `found`. Undefined of another part. */
function textOf(part: JsonValue, found: (JsonValue | undefined)[]): string | undefined {
  if (!isObject(part)) return undefined;
  const { type, text } = part;
  if (type === "text" || type === "input_text") return typeof text === "string" ? text : undefined;
  if (type !== "image" && type !== "image_url" && type !== "input_image") return undefined;
  found.push(imageIn(part));
  return "<image>";
}

function imageIn({ image_url: linked, image, path, url, bytes }: JsonObject): JsonValue | undefined {
  if (isObject(linked)) return linked.url;
  const [given] = [linked, image, path, url].filter((one) => one !== undefined);
  return given ?? (bytes === undefined ? undefined : { bytes });
}
