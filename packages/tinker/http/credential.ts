import { TinkerError } from "../errors.ts";
import { abortable } from "./signals.ts";

/** An API key, or a function that returns the current one. */
export type ApiKey = string | (() => string | Promise<string>);

/** How a client proves who it is. Values are those of the header `X-API-Key`; undefined means that none is sent. */
export interface Credential {
  /** The value for the next request. */
  current(signal: AbortSignal | undefined): Promise<string | undefined>;
  /** A value in place of one that the server rejected as invalid or expired; undefined if there is none. */
  instead(rejected: string | undefined, signal: AbortSignal | undefined): Promise<string | undefined>;
}

/** Sends a key unchanged. A function is called for each request. */
export function keyCredential(key: ApiKey | undefined): Credential {
  const current = async () => (typeof key === "function" ? key() : key);
  return {
    current,
    async instead(rejected) {
      const other = await current();
      return other === rejected ? undefined : other;
    },
  };
}

/** Milliseconds before its expiry at which a token is replaced. Tinker's SDK has the same. */
const reserveMs = 60_000;

/** Sends tokens of short life. `exchange` returns a new one. */
export function tokenCredential(exchange: () => Promise<string>): Credential {
  let token: string | undefined;
  let pending: Promise<string> | undefined;
  const renewed = (signal: AbortSignal | undefined) => {
    pending ??= exchange()
      .then((fresh) => {
        token = fresh;
        return fresh;
      })
      .finally(() => {
        pending = undefined;
      });
    return abortable(pending, signal);
  };
  return {
    async current(signal) {
      const left = token === undefined ? 0 : expiryOf(token) - Date.now();
      if (token !== undefined && left > reserveMs) return token;
      try {
        return await renewed(signal);
      } catch (error) {
        const isRejected = error instanceof TinkerError && error.code === "unauthorized";
        if (isRejected || signal?.aborted || left <= 0) throw error;
        return token; // it is still valid for a while
      }
    },
    async instead(rejected, signal) {
      return token === rejected ? renewed(signal) : token;
    },
  };
}

/** When a JSON Web Token expires, in milliseconds since 1970; 0 if it does not say. */
function expiryOf(token: string): number {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    return typeof exp === "number" ? exp * 1000 : 0;
  } catch {
    return 0;
  }
}
