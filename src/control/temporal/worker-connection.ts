import { NativeConnection } from "@temporalio/worker";
import { connectionSettings, type ServerLocation, unreachable } from "./client.ts";

/** The connection of a worker. Throws TEMPORAL_UNREACHABLE. */
export async function connectWorker(location: ServerLocation): Promise<NativeConnection> {
  const { address } = location;
  const settings = connectionSettings(location);
  try {
    return await NativeConnection.connect({ ...settings, address });
  } catch (error) {
    throw unreachable(location, error);
  }
}
