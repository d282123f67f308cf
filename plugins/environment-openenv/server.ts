import { isObject, type JsonObject, type JsonValue } from "everturn/plugin";

/** Milliseconds for a request that starts no episode. */
const limit = 30_000;

/** The number of characters of a server's answer that an error shows. */
const shown = 300;

/**
 * Sends a request to the environment's server. Undefined if the server has no such path. Throws if it does not answer,
 * or answers with an error.
 */
export async function request(
  url: string,
  path: string,
  body?: JsonObject,
  signal = AbortSignal.timeout(limit),
): Promise<JsonValue | undefined> {
  const headers = { "content-type": "application/json" };
  const init = body === undefined ? {} : { method: "POST", headers, body: JSON.stringify(body) };
  let text: string;
  let status: number;
  try {
    const response = await fetch(`${url}${path}`, { ...init, signal });
    status = response.status;
    text = await response.text();
  } catch (error) {
    const { message, cause } = Object(error);
    throw new Error(`${url}${path} did not answer: ${Object(cause).message ?? message}`, { cause: error });
  }
  if (status === 404 || status === 405) return undefined;
  if (status >= 300) throw new Error(`${url}${path} answered ${status}: ${text.slice(0, shown)}`);
  return JSON.parse(text);
}

/** Calls a method of the server's JSON-RPC endpoint. Undefined if the server does not have it. */
export async function rpc(
  url: string,
  method: string,
  params: JsonObject,
  signal?: AbortSignal,
): Promise<JsonObject | undefined> {
  const answer = await request(url, "/mcp", { jsonrpc: "2.0", id: 1, method, params }, signal);
  if (!isObject(answer)) return undefined;
  const { result, error } = answer;
  if (isObject(result)) return result;
  const code = isObject(error) ? error.code : undefined;
  if (code === -32_601 || code === -32_603) return undefined; // no such method, or an environment without tools
  throw new Error(`${url}/mcp: ${method} answered ${JSON.stringify(error).slice(0, shown)}`);
}

/** Opens a session, whose episode outlives its connections. Undefined if the server has none. */
export async function openEpisodeSession(url: string, signal: AbortSignal): Promise<string | undefined> {
  const result = await rpc(url, "openenv/session/create", {}, signal);
  return typeof result?.session_id === "string" ? result.session_id : undefined;
}

/** Ends a session. One that is unknown has ended. */
export async function closeEpisodeSession(url: string, session: string): Promise<void> {
  await request(url, "/mcp", {
    jsonrpc: "2.0",
    id: 1,
    method: "openenv/session/close",
    params: { session_id: session },
  });
}
