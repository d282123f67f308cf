import { Connection, isGrpcServiceError } from "@temporalio/client";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { connectionSettings, reasonOf, type ServerLocation } from "./connection-settings.ts";
import { grpcCodes } from "./grpc-codes.ts";
import { tlsTrouble } from "./tls-trouble.ts";

/** How long the server may take to answer the call that finds out whether it accepts the credentials, in ms. */
const patience = 3000;

/**
 * The error for a connection that failed with `error`: TEMPORAL_TLS_FAILED, TEMPORAL_UNAUTHORIZED or
 * TEMPORAL_UNREACHABLE. It connects again to find the cause.
 */
export async function connectionTrouble(location: ServerLocation, error: unknown): Promise<EverturnError> {
  const { address, isOwn } = location;
  const settings = connectionSettings(location);
  if (!isOwn) {
    const trouble = await tlsTrouble(address, settings.tls);
    if (trouble !== undefined) return new EverturnError("TEMPORAL_TLS_FAILED", { address, ...trouble });
    const refused = await refusal(location);
    if (refused !== undefined) return refused;
  }
  const hint = settings.tls
    ? "The connection was made with TLS, which an API key switches on: set TEMPORAL_TLS=false for a server without TLS."
    : "The connection was made without TLS: set TEMPORAL_TLS=true if the server requires it.";
  return new EverturnError("TEMPORAL_UNREACHABLE", { address, reason: reasonOf(error), hint });
}

/** TEMPORAL_UNAUTHORIZED if the server answers, but does not accept the credentials. */
async function refusal(location: ServerLocation): Promise<EverturnError | undefined> {
  const { address } = location;
  const connection = Connection.lazy({
    ...connectionSettings(location),
    address,
    connectTimeout: patience,
  });
  try {
    await connection.ensureConnected();
    return undefined;
  } catch (error) {
    return unauthorized(location, error);
  } finally {
    await connection.close();
  }
}

/** TEMPORAL_UNAUTHORIZED for the error of a call, if that is its reason. */
export function unauthorized(
  { address, namespace }: ServerLocation,
  error: unknown,
): EverturnError | undefined {
  const status = statusOf(error);
  const { unauthenticated, permissionDenied } = grpcCodes;
  if (status?.code !== unauthenticated && status?.code !== permissionDenied) return undefined;
  return new EverturnError("TEMPORAL_UNAUTHORIZED", { address, namespace, reason: status.details });
}

/** The gRPC status of an error or of one of its causes. */
function statusOf(error: unknown): { code: number; details: string } | undefined {
  if (isGrpcServiceError(error)) return error;
  return error instanceof Error && error.cause !== undefined ? statusOf(error.cause) : undefined;
}
