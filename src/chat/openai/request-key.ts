import { createHash } from "node:crypto";
import { isObject, type JsonObject } from "../../contracts/json.ts";

/** Fields that determine how an answer is sent, not its content. */
const carriage = ["stream", "stream_options"];

/**
 * Identifies a request: the SHA-256, in hexadecimal, of the path and the body in canonical JSON (keys in order),
 * without `stream`, `stream_options` and headers. The same request, sent again, has the same key.
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
