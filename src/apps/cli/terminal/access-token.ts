import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { newToken } from "../../../chat/openai/access-token.ts";
import { isLoopback } from "../../../chat/openai/check-origin.ts";

/**
 * The token that this command's server requires: `EVERTURN_TOKEN`, or else a new one; undefined with --no-token.
 * Throws COMMAND_INVALID if other machines could reach a server without one.
 */
export function accessToken(isWanted: boolean, host = "127.0.0.1"): string | undefined {
  if (isWanted) return process.env.EVERTURN_TOKEN || newToken();
  if (isLoopback(host)) return undefined;
  const reason = `--no-token works only for this machine, but other machines can reach ${host}`;
  throw new EverturnError("COMMAND_INVALID", { reason });
}

/** An address that includes the token. */
export function withToken(address: string, token: string | undefined): string {
  return token === undefined ? address : `${address}?token=${encodeURIComponent(token)}`;
}
