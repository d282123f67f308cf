import { NativeConnection } from "@temporalio/worker";
import { EverturnError } from "../errors/everturn-error.ts";
import { connectionSettings, reasonOf, type ServerLocation } from "./client.ts";

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
