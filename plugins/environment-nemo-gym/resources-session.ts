import { isObject, type JsonObject, type JsonValue } from "everturn/plugin";

/** A session of a resources server. Its cookie is all that identifies it. */
export interface ResourcesSession {
  url: string;
  /** The cookies by name, as the server set them last. */
  cookies: Record<string, string>;
}

/** An answer of the server. */
export interface Answer {
  status: number;
  /** JSON, or the text if it is not. */
  value: JsonValue;
}

/** Sends a request in a session, and keeps the cookies of the answer. Throws if the server does not answer. */
export async function ask(
  session: ResourcesSession,
  path: string,
  body: JsonObject,
  signal: AbortSignal,
): Promise<Answer> {
  const { url, cookies } = session;
  const cookie = Object.entries(cookies).map(([name, value]) => `${name}=${value}`);
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (cookie.length > 0) headers.cookie = cookie.join("; ");
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body), signal });
    text = await response.text();
  } catch (error) {
    const { message, cause } = Object(error);
    throw new Error(`${url}${path} did not answer: ${Object(cause).message ?? message}`, { cause: error });
  }
  for (const set of response.headers.getSetCookie()) {
    const [, name = "", value = ""] = /^([^=;]+)=([^;]*)/.exec(set) ?? [];
    cookies[name.trim()] = value;
  }
  return { status: response.status, value: parsed(text) };
}

/** The value of an answer. Throws if it is an error. */
export function successOf({ status, value }: Answer, path: string): JsonObject {
  if (status < 300) return isObject(value) ? value : {};
  throw new Error(`${path} answered ${status}: ${JSON.stringify(value).slice(0, 300)}`);
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
