import { syncBuiltinESMExports } from "node:module";
import type { KeptSession } from "./kept-protocol.ts";

/**
 * The API key in the environment of kept agents. Several trajectories share it, so `fetch` replaces it with the key of
 * the trajectory that sends the request.
 */
export const sharedKey = "everturn-session";

/**
 * Makes `process.env` and `fetch` of this thread or process serve several trajectories. EVERTURN_TRAJECTORY and the key
 * of a request to the endpoint are those of the trajectory that `current` returns, so clients that read the environment
 * need no change. A request that carries another trajectory's key is rejected.
 */
export function shareEnvironment(
  baseURL: string,
  current: () => Pick<KeptSession, "trajectory" | "key"> | undefined,
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
    const key = headers.get("authorization")?.replace(/^Bearer /i, "");
    const session = current();
    if (key === undefined || key === sharedKey) {
      if (session === undefined) throw new Error(`A request belongs to no trajectory: ${remedy}.`);
      headers.set("authorization", `Bearer ${session.key}`);
    } else if (session !== undefined && key !== session.key) {
      throw new Error(
        `A request of the trajectory ${session.trajectory} has another trajectory's key: ${remedy}.`,
      );
    }
    return plain(resource, { ...init, headers });
  };
}

/** What to change in an agent whose requests lose their trajectory. */
export const remedy =
  "create the client inside the agent's function, with its apiKey, or set `mode: process`";
