import {
  type ClientConfigTLS,
  type ClientConnectConfig,
  loadClientConfigProfile,
  toClientOptions,
} from "@temporalio/envconfig";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { defined } from "../../base/records/defined.ts";

/** The location of a run's server. */
export interface ServerLocation {
  address: string;
  namespace: string;
  /** A dev server of the run's own, which has no TLS and no keys, whatever the environment. */
  isOwn: boolean;
  /**
   * The id of the run's own server, which distinguishes it from another run's server at the same address; absent:
   * any.
   */
  cluster?: string | undefined;
}

/** Address and namespace in the SDK's usual environment (TEMPORAL_*, profiles). Throws TEMPORAL_SETTINGS_INVALID. */
export function locationFromEnvironment(): Partial<Pick<ServerLocation, "address" | "namespace">> {
  const { connectionOptions, namespace } = environment();
  return defined({ address: connectionOptions.address, namespace });
}

/** TLS and keys from the environment. Throws TEMPORAL_SETTINGS_INVALID. */
export function connectionSettings({ isOwn }: Pick<ServerLocation, "isOwn">) {
  if (isOwn) return {};
  const { address: _, ...settings } = environment().connectionOptions;
  return settings;
}

function environment(): ClientConnectConfig {
  try {
    const profile = loadClientConfigProfile();
    requirePair(profile.tls);
    return toClientOptions(profile);
  } catch (error) {
    throw new EverturnError("TEMPORAL_SETTINGS_INVALID", { reason: reasonOf(error) });
  }
}

/** The SDK ignores a client certificate without its key, and a key without its certificate. */
function requirePair({ clientCert, clientKey }: ClientConfigTLS = {}): void {
  if ((clientCert === undefined) === (clientKey === undefined)) return;
  const [given, missing] = clientCert === undefined ? ["key", "certificate"] : ["certificate", "key"];
  throw new Error(`a client ${given} is set without its ${missing}`);
}

/** The first line of an error's message. */
export function reasonOf(error: unknown): string {
  return messageOf(error).split("\n")[0] ?? "";
}
