import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { messageOf } from "../../../base/errors/message-of.ts";
import type { JsonValue } from "../../../contracts/json.ts";

/** The server of a request, and the limits on its answer. */
export interface Destination {
  kind: string;
  url: URL;
  headers: Record<string, string>;
  /** Seconds in which the answer must arrive. */
  time: number;
  /** The maximum bytes of the answer. */
  longest: number;
  signal: AbortSignal | undefined;
}

/** Posts JSON and returns the answer. Throws the errors of `request`. */
export function post(body: JsonValue, to: Destination): Promise<JsonValue> {
  return request("POST", body, to);
}

/**
 * Sends a request with a body of JSON or of a form, and returns the answer; null if it is empty. Throws SANDBOX_FAILED
 * if no answer, an error, an incomplete answer or invalid JSON arrives, and the signal's reason if it aborts.
 */
export async function request(
  method: "GET" | "POST" | "DELETE",
  body: JsonValue | FormData | undefined,
  { kind, url, headers, time, longest, signal }: Destination,
): Promise<JsonValue> {
  const late = AbortSignal.timeout(1000 * time);
  const isForm = body instanceof FormData;
  const type: Record<string, string> =
    isForm || body === undefined ? {} : { "content-type": "application/json" };
  try {
    const response = await fetch(url, {
      method,
      headers: { ...type, accept: "application/json", ...headers },
      body: isForm ? body : body === undefined ? null : JSON.stringify(body),
      redirect: "error",
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
    });
    const text = await textOf(response, longest);
    if (!response.ok) throw new Error(`it answered ${response.status}: ${text.slice(0, 200)}`);
    return text === "" ? null : parsed(text);
  } catch (error) {
    signal?.throwIfAborted();
    const why = late.aborted ? `it has not answered for ${time} s` : causeOf(error);
    throw new EverturnError("SANDBOX_FAILED", { kind, reason: `${url.origin}: ${why}` }, { cause: error });
  }
}
async function textOf({ body }: Response, longest: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.length;
    if (size > longest) throw new Error(`its answer is longer than ${longest} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`its answer is not JSON: ${text.slice(0, 200)}`);
  }
}

/** fetch gives the reason for a failure in its error's cause. */
function causeOf(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
}
