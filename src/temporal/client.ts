import { Client, type ClientPlugin, Connection } from "@temporalio/client";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { NativeConnection } from "@temporalio/worker";
import { EverturnError } from "../errors/everturn-error.ts";

/** Where a server is: explicit, or from the SDK's environment configuration (TEMPORAL_ADDRESS, profiles). */
export interface ServerLocation {
  address: string;
  namespace: string;
}

/** The server named by the SDK's usual environment configuration, if there is one. */
export function locationFromEnvironment(): ServerLocation | undefined {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  const address = connectionOptions.address;
  return address === undefined ? undefined : { address, namespace: namespace ?? "default" };
}

/** Connects a client; TLS and keys come from the environment. Throws TEMPORAL_UNREACHABLE. */
export async function connectClient(
  location: ServerLocation,
  plugins: ClientPlugin[],
): Promise<{ client: Client; connection: Connection }> {
  const { connectionOptions } = loadClientConnectConfig();
  try {
    const connection = await Connection.connect({ ...connectionOptions, address: location.address });
    return { connection, client: new Client({ connection, namespace: location.namespace, plugins }) };
  } catch (error) {
    throw new EverturnError("TEMPORAL_UNREACHABLE", { address: location.address, reason: reasonOf(error) });
  }
}

/** The connection of a worker. Throws TEMPORAL_UNREACHABLE. */
export async function connectWorker(location: ServerLocation): Promise<NativeConnection> {
  const { connectionOptions } = loadClientConnectConfig();
  const { address: _, ...rest } = connectionOptions;
  try {
    return await NativeConnection.connect({ ...rest, address: location.address });
  } catch (error) {
    throw new EverturnError("TEMPORAL_UNREACHABLE", { address: location.address, reason: reasonOf(error) });
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
}
