import { setTimeout as sleep } from "node:timers/promises";
import {
  Client,
  type ClientPlugin,
  Connection,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  isRetryableError,
  makeGrpcRetryInterceptor,
} from "@temporalio/client";
import { type ClientConnectConfig, loadClientConnectConfig } from "@temporalio/envconfig";
import { untilAborted } from "../../base/async/abort-signals.ts";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import { dataConverter } from "../encryption/data-converter.ts";
import type { Encryption } from "../encryption/encryption-codec.ts";

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

/**
 * The server in the SDK's usual environment configuration (TEMPORAL_ADDRESS, profiles); undefined if there is none.
 */
export function locationFromEnvironment(): Pick<ServerLocation, "address" | "namespace"> | undefined {
  const { connectionOptions, namespace } = environment();
  const address = connectionOptions.address;
  return address === undefined ? undefined : { address, namespace: namespace ?? "default" };
}

/** The longest pause before a failed call is retried, in ms, and how often it is retried: for half a minute. */
const retries = { pause: 500, attempts: 60 };

/** How long one attempt to connect to a server may take, in ms. */
const connectTimeout = 2000;

/** gRPC's status codes. */
const [deadlineExceeded, unavailable] = [4, 14];

/**
 * Whether an error means that the server is away, or had no time for a call. The client words an expired deadline
 * differently.
 */
function isAway({ code, details }: Parameters<typeof isRetryableError>[0]): boolean {
  return code === unavailable || (code === deadlineExceeded && details === "context deadline exceeded");
}

/**
 * Connects a client. TLS and keys come from the environment. When `closing` aborts, failed calls are no longer
 * retried. `close` closes the connection. With `outlastsOutages`, a call waits as long as necessary for a server
 * that went away, and the first connection to a run's own server waits too, because it may have stopped since it was
 * up. With `encryption`, it encrypts and decrypts payloads. Throws TEMPORAL_UNREACHABLE.
 */
export async function connectClient(
  location: ServerLocation,
  plugins: ClientPlugin[],
  closing: AbortSignal,
  {
    outlastsOutages = false,
    encryption,
  }: { outlastsOutages?: boolean; encryption?: Encryption | undefined } = {},
): Promise<{ client: Client; connection: Connection; close(): Promise<void> }> {
  const { address, namespace } = location;
  const settings = connectionSettings(location);
  const isWaitedFor = outlastsOutages && location.isOwn;
  let isConnected = false;
  const { delayFunction } = defaultGrpcRetryOptions();
  const retry = makeGrpcRetryInterceptor({
    retryableDecider: (attempt, status) => {
      if (closing.aborted || (isWaitedFor && !isConnected)) return false;
      if (outlastsOutages && isAway(status)) return true;
      return attempt < retries.attempts && (isAway(status) || isRetryableError(status));
    },
    delayFunction: (attempt, status) => Math.min(retries.pause, delayFunction(attempt, status)),
  });
  // The SDK retries from a timer. On a closed connection that would throw where nobody can catch it.
  const hasSettled = untilAborted(closing).then(() => sleep(retries.pause + 100));
  for (;;) {
    const options = defined<ConnectionOptions>({
      ...settings,
      address,
      interceptors: [retry],
      connectTimeout: isWaitedFor ? connectTimeout : undefined,
    });
    const connection = Connection.lazy(options);
    try {
      await connection.ensureConnected();
      isConnected = true;
      const client = new Client({ connection, namespace, plugins, dataConverter: dataConverter(encryption) });
      const close = async () => {
        await hasSettled;
        await connection.close();
      };
      return { connection, client, close };
    } catch (error) {
      await connection.close();
      if (!isWaitedFor || closing.aborted) throw unreachable(location, error);
      await sleep(retries.pause);
    }
  }
}

/** The error TEMPORAL_UNREACHABLE, with hints from the connection's settings. */
export function unreachable(location: ServerLocation, error: unknown): EverturnError {
  const { address } = location;
  const { tls } = connectionSettings(location);
  const hint =
    tls === undefined || tls === false || tls === null
      ? "The connection was made without TLS: set TEMPORAL_TLS=true if the server requires it."
      : "The connection was made with TLS, which an API key switches on: set TEMPORAL_TLS=false for a server without TLS.";
  return new EverturnError("TEMPORAL_UNREACHABLE", { address, reason: reasonOf(error), hint });
}

/** TLS and keys from the environment. Throws TEMPORAL_SETTINGS_INVALID. */
export function connectionSettings({ isOwn }: ServerLocation) {
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
