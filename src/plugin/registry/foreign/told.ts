import type { ContentPart } from "../../../contracts/content.ts";
import type { ToolResponse } from "../../../contracts/tool.ts";

/**
 * Converts a foreign tool's result to a response: text unchanged, all other values as JSON, no result as an
 * empty text.
 */
export function told(output: unknown): ToolResponse {
  if (typeof output === "string") return { text: output };
  return { text: JSON.stringify(output) ?? "" };
}

/**
 * Converts an error of a foreign tool to a response, because such tools throw to tell the model what was
 * wrong. Rethrows failures of the host (system errors, time-outs, a server's 5xx or 429) and mistakes in the
 * tool's own code.
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
 * Converts a model message's content parts to a response: texts and images unchanged, other parts by their
 * type. Undefined if the value has no parts.
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

/** An image in base64, under any of its usual names. A link to an image is not one. */
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

/** The function that a value has under a name, if any. */
export function functionOf(value: object, name: string): ((...given: unknown[]) => unknown) | undefined {
  const found: unknown = Reflect.get(value, name);
  return isFunction(found) ? (...given) => Reflect.apply(found, value, given) : undefined;
}

function isFunction(value: unknown): value is (...given: unknown[]) => unknown {
  return typeof value === "function";
}
