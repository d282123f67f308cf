import type { JsonValue } from "everturn/plugin";

interface Options {
  method: string;
  headers: Record<string, string>;
  body: JsonValue | undefined;
  /** The key of the call, which is the same in each attempt. */
  key: string;
  signal: AbortSignal;
}

/** The maximum number of redirects per request. */
const most = 5;

/**
 * Sends a request. Follows redirects only within the origin, so that only the declared host receives the
 * request and its headers.
 */
export async function request(
  address: URL,
  { method, headers, body, key, signal }: Options,
): Promise<Response> {
  const { origin } = address;
  let at = address;
  let how: RequestInit = {
    method,
    headers: {
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(method === "GET" ? {} : { "idempotency-key": key }),
      ...headers,
    },
    body: body === undefined ? null : JSON.stringify(body),
  };
  for (let redirects = 0; redirects <= most; redirects++) {
    const response = await fetch(at, { ...how, redirect: "manual", signal });
    const location = response.headers.get("location");
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return response;
    await response.body?.cancel();
    at = new URL(location, at);
    if (at.origin !== origin) throw new Error(`${origin} redirects to ${at.origin}, which is not asked`);
    if (response.status < 307 && method !== "GET") {
      const { "content-type": _, ...rest } = Object.fromEntries(new Headers(how.headers));
      how = { method: "GET", headers: rest };
    }
  }
  throw new Error(`${origin} redirects more than ${most} times`);
}

/** Reads the text of a response. Undefined if it has more than `longest` bytes. */
export async function answerText({ body }: Response, longest: number): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.length;
    if (size > longest) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}
