import { createHash } from "node:crypto";
import { isObject, type JsonObject } from "../../contracts/json.ts";

/** How an answer is carried, and not what it is. */
const carriage = ["stream", "stream_options"];

/**
 * Names what is asked: SHA-256, in hexadecimal, of the path and the body in canonical JSON (keys in order), without `stream` and
 * `stream_options`, and without any header. The same request sent again has the same key.
 */
export function requestKey(path: string, body: JsonObject): string {
  const asked = Object.fromEntries(Object.entries(body).filter(([name]) => !carriage.includes(name)));
  return createHash("sha256")
    .update(`${path}\n${canonical(asked)}`)
    .digest("hex");
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, one) =>
    isObject(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one,
  );
}
