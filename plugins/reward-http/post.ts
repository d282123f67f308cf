import type { JsonObject, JsonValue } from "everturn/plugin";

/** The maximum bytes of an answer. */
const longest = 8 * 1024 * 1024;

/**
 * Posts JSON and returns the answer. Throws the errors of `fetch`, and an error if the answer is an error,
 * too long or not JSON.
 */
export async function post(
  url: string,
  body: JsonObject,
  token: string | undefined,
  signal: AbortSignal,
): Promise<JsonValue> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
    signal,
  });
  const text = await textOf(response);
  if (!response.ok) throw new Error(`the server answered ${response.status}: ${text.slice(0, 200)}`);
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`the server's answer is not JSON: ${text.slice(0, 200)}`);
  }
}

async function textOf({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.length;
    if (size > longest) throw new Error(`the server's answer is longer than ${longest} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}
