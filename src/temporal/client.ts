import { Client, type ClientPlugin, Connection } from "@temporalio/client";
import { type ClientConnectConfig, loadClientConnectConfig } from "@temporalio/envconfig";
import { NativeConnection } from "@temporalio/worker";
import { EverturnError } from "../errors/everturn-error.ts";

/** Where a run's server is. */
export interface ServerLocation {
  address: string;
  namespace: string;
  /** A dev server of the run's own: no TLS and no keys, whatever the environment says. */
  isOwn: boolean;
}

/** The server named by the SDK's usual environment configuration, if there is one (TEMPORAL_ADDRESS, profiles). */
export function locationFromEnvironment(): Pick<ServerLocation, "address" | "namespace"> | undefined {
  const { connectionOptions, namespace } = environment();
  const address = connectionOptions.address;
  return address === undefined ? undefined : { address, namespace: namespace ?? "default" };
}

/** Connects a client; TLS and keys come from the environment. Throws TEMPORAL_UNREACHABLE. */
export async function connectClient(
  location: ServerLocation,
  plugins: ClientPlugin[],
): Promise<{ client: Client; connection: Connection }> {
  const { address, namespace } = location;
  const settings = connectionSettings(location);
  try {
    const connection = await Connection.connect({ ...settings, address });
    return { connection, client: new Client({ connection, namespace, plugins }) };
  } catch (error) {
    throw new EverturnError("TEMPORAL_UNREACHABLE", { address, reason: reasonOf(error) });
  }
}

/** The connection of a worker. Throws TEMPORAL_UNREACHABLE. */
export async function connectWorker(location: ServerLocation): Promise<NativeConnection> {
  const { address } = location;
  const settings = connectionSettings(location);
  try {
    return await NativeConnection.connect({ ...settings, address });
  } catch (error) {
    throw new EverturnError("TEMPORAL_UNREACHABLE", { address, reason: reasonOf(error) });
  }
}

function connectionSettings({ isOwn }: ServerLocation) {
  if (isOwn) return {};
  const { address: _, ...settings } = environment().connectionOptions;
  return settings;
}

function environment(): ClientConnectConfig {
  try {
    return loadClientConnectConfig();
  } catch (error) {
    throw new EverturnError("TEMPORAL_SETTINGS_INVALID", { reason: reasonOf(error) });
  }
}

/** The first line of an error's message. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
}
