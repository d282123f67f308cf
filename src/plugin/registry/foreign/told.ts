import type { ContentPart } from "../../../contracts/content.ts";
import type { ToolResponse } from "../../../contracts/tool.ts";

/** What a foreign tool gave, as an answer: text as it is, all else as JSON. Nothing at all is an empty text. */
export function told(output: unknown): ToolResponse {
  if (typeof output === "string") return { text: output };
  return { text: JSON.stringify(output) ?? "" };
}

/**
 * What a foreign tool has thrown, as an answer: there an error is how a tool tells the model what was wrong. What names
 * a failure of the host (a system error, a time-out, a server's 5xx or 429) or a mistake of the tool's own text is thrown on.
 */
export function toldError(thrown: unknown): ToolResponse {
  if (!(thrown instanceof Error) || isOfHost(thrown)) throw thrown;
  return { text: `error: ${thrown.message}`, error: true };
}

const ofHost = ["AbortError", "TimeoutError", "TypeError", "ReferenceError", "SyntaxError"];

function isOfHost(error: Error): boolean {
  if (ofHost.includes(error.name)) return true;
  const { code, status, statusCode }: Failure = Object(error);
  const answered = status ?? statusCode;
  if (typeof answered === "number") return answered >= 500 || answered === 429 || answered === 408;
  if (typeof code === "string" && /^(E[A-Z]+|UND_ERR_.+)$/.test(code)) return true;
  return error.cause instanceof Error && isOfHost(error.cause);
}

interface Failure {
  code?: unknown;
  status?: unknown;
  statusCode?: unknown;
}

/**
 * Content in parts, as models' messages have it, as an answer: texts and images as they are, what else there is by its name;
 * undefined if it is none.
 */
export function toldParts(content: unknown): ToolResponse | undefined {
  if (!Array.isArray(content) || content.length === 0) return undefined;
  const parts = content.map(partOf);
  return parts.includes(undefined) ? undefined : { content: parts.filter((part) => part !== undefined) };
}

function partOf(part: unknown): ContentPart | undefined {
  if (typeof part !== "object" || part === null) return undefined;
  const { type, text }: Part = part;
  if (typeof type !== "string") return undefined;
  if (typeof text === "string") return { type: "text", text };
  return imageOf(part) ?? { type: "text", text: `[${type}]` };
}

/** An image in base64, by any of the names that it goes by. What is only linked to is none. */
function imageOf(part: Part): ContentPart | undefined {
  const { data, image, image_url } = part;
  const given = data ?? nested(image, "data") ?? nested(image_url, "url");
  const { mediaType = part.mimeType ?? part.mime_type ?? nestedOnly(image, "mediaType") } = part;
  if (given instanceof Uint8Array) return { type: "image", data: given };
  if (typeof given !== "string") return undefined;
  const [, declared, encoded] = /^data:(image\/[\w.+-]+);base64,(.+)$/s.exec(given) ?? [];
  if (encoded !== undefined) return { type: "image", data: encoded, mediaType: declared };
  const isImage = typeof mediaType === "string" && mediaType.startsWith("image/");
  return isImage ? { type: "image", data: given, mediaType } : undefined;
}

function nested(value: unknown, name: string): unknown {
  return typeof value === "object" ? nestedOnly(value, name) : value;
}

function nestedOnly(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

interface Part {
  type?: unknown;
  text?: unknown;
  data?: unknown;
  image?: unknown;
  image_url?: unknown;
  mediaType?: unknown;
  mimeType?: unknown;
  mime_type?: unknown;
}

/** What a value has under a name, if it is a function. */
export function functionOf(value: object, name: string): ((...given: unknown[]) => unknown) | undefined {
  const found: unknown = Reflect.get(value, name);
  return isFunction(found) ? (...given) => Reflect.apply(found, value, given) : undefined;
}

function isFunction(value: unknown): value is (...given: unknown[]) => unknown {
  return typeof value === "function";
}
