import { TinkerError } from "../errors.ts";
import { type ApiKey, type Credential, keyCredential, tokenCredential } from "./credential.ts";
import { fieldsOf, optionalText, textOf } from "./json.ts";
import { type Connection, send } from "./send.ts";
import { abortable } from "./signals.ts";

/**
 * The credential of Tinker's own service, as its SDK 0.38.0 gets it: the service says in `client/config` whether it wants keys,
 * or tokens for which `auth/token` exchanges a key.
 */
export function hostedCredential(
  connection: Omit<Connection, "credential">,
  key: ApiKey | undefined,
  sdkVersion: string,
): Credential {
  const own = keyCredential(key);
  const ask = async (path: string, body: unknown) => {
    const answer = await send(
      { ...connection, credential: own },
      { method: "POST", path, body, repeatable: true },
    );
    return fieldsOf(answer.json(), `the answer to ${path}`);
  };
  const tokens = tokenCredential(async () => textOf(await ask("auth/token", {}), "jwt"));
  const choose = async () => {
    const config = await ask("client/config", { sdk_version: sdkVersion });
    if (config.pjwt_auth_enabled !== true) return own;
    const wantsFresh = optionalText(config, "credential_default_source") === "credential_cmd";
    if (wantsFresh && typeof key === "string" && !key.startsWith("eyJ"))
      throw new TinkerError(
        "unauthorized",
        "The organization of this key accepts only credentials of short life. Set apiKey to a function that returns one.",
      );
    return tokens;
  };
  let chosen: Promise<Credential> | undefined;
  const credential = (signal: AbortSignal | undefined) => {
    chosen ??= choose().catch((error: unknown) => {
      chosen = undefined;
      throw error;
    });
    return abortable(chosen, signal);
  };
  return {
    current: async (signal) => (await credential(signal)).current(signal),
    instead: async (rejected, signal) => (await credential(signal)).instead(rejected, signal),
  };
}
