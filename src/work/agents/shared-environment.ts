import { syncBuiltinESMExports } from "node:module";
import type { DirectReply, DirectRequest } from "../../chat/openai/endpoint-server.ts";
import type { KeptSession } from "./kept-protocol.ts";

/**
 * The API key in the environment of kept agents. Several trajectories share it, so `fetch` replaces it with the key of
 * the trajectory that sends the request.
 */
export const sharedKey = "everturn-session";

/** Sends a request to the endpoint without a connection. Throws the signal's reason. */
export type SendDirectly = (request: DirectRequest, signal: AbortSignal | undefined) => Promise<DirectReply>;

/**
 * Makes `process.env` and `fetch` of this thread or process serve several trajectories. EVERTURN_TRAJECTORY and the key
 * of a request to the endpoint are those of the trajectory that `current` returns, so clients that read the environment
 * need no change. A request that carries another trajectory's key is rejected. With `send`, requests to the endpoint
 * need no connection.
 */
export function shareEnvironment(
  baseURL: string,
  current: () => Pick<KeptSession, "trajectory" | "key"> | undefined,
  send?: SendDirectly,
): void {
  const environment = {
    ...process.env,
    OPENAI_BASE_URL: baseURL,
    OPENAI_API_KEY: sharedKey,
    OPENAI_AGENTS_DISABLE_TRACING: "1",
  };
  process.env = Object.defineProperty(environment, "EVERTURN_TRAJECTORY", {
    get: () => current()?.trajectory,
    enumerable: true,
    configurable: true,
  });
  syncBuiltinESMExports(); // for `import { env } from "node:process"`

  const { origin } = new URL(baseURL);
  const plain = globalThis.fetch;
  globalThis.fetch = async (resource, init) => {
    const url = resource instanceof Request ? resource.url : String(resource);
    if (!url.startsWith(`${origin}/`)) return plain(resource, init);
    const headers = new Headers(
      init?.headers ?? (resource instanceof Request ? resource.headers : undefined),
    );
    let key = headers.get("authorization")?.replace(/^Bearer /i, "");
    const session = current();
    if (key === undefined || key === sharedKey) {
      if (session === undefined) throw new Error(`A request belongs to no trajectory: ${remedy}.`);
      key = session.key;
      headers.set("authorization", `Bearer ${key}`);
    } else if (session !== undefined && key !== session.key) {
      throw new Error(
        `A request of the trajectory ${session.trajectory} has another trajectory's key: ${remedy}.`,
      );
    }
    const body = init?.body;
    if (send === undefined || init?.method?.toUpperCase() !== "POST" || typeof body !== "string")
      return plain(resource, { ...init, headers });
    const { body: text, ...reply } = await send({ url, key, body }, init.signal ?? undefined);
    return new Response(text, reply);
  };
}

/** What to change in an agent whose requests lose their trajectory. */
export const remedy =
  "create the client inside the agent's function, with its apiKey, or set `mode: process`";
