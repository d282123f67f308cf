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

/** Where a run's server is. */
export interface ServerLocation {
  address: string;
  namespace: string;
  /** A dev server of the run's own: no TLS and no keys, whatever the environment says. */
  isOwn: boolean;
  /** The id of the run's own server, by which it is told from another run's at the same address; absent: any. */
  cluster?: string | undefined;
}

/** The server named by the SDK's usual environment configuration, if there is one (TEMPORAL_ADDRESS, profiles). */
export function locationFromEnvironment(): Pick<ServerLocation, "address" | "namespace"> | undefined {
  const { connectionOptions, namespace } = environment();
  const address = connectionOptions.address;
  return address === undefined ? undefined : { address, namespace: namespace ?? "default" };
}

/** Milliseconds before a call that failed is tried again, at most; and how often it is tried: for half a minute. */
const retries = { pause: 500, attempts: 60 };

/** Milliseconds of one try to connect to a server that is waited for. */
const connectTimeout = 2000;

/** gRPC's status codes. */
const [deadlineExceeded, unavailable] = [4, 14];

/**
 * Whether the server is away, or had no time for a call: its own words; of a call whose time is over the client says so
 * in others.
 */
function isAway({ code, details }: Parameters<typeof isRetryableError>[0]): boolean {
  return code === unavailable || (code === deadlineExceeded && details === "context deadline exceeded");
}

/**
 * Connects a client; TLS and keys come from the environment. When `closing` aborts, calls that fail are tried no more,
 * and `close` closes the connection. With `outlastsOutages` a call waits for a server that went away as long as it
 * takes, and one of the run's own is waited for at first, too: it may have been stopped since it said that it was up. Throws
 * TEMPORAL_UNREACHABLE.
 */
export async function connectClient(
  location: ServerLocation,
  plugins: ClientPlugin[],
  closing: AbortSignal,
  { outlastsOutages = false } = {},
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
  // The SDK tries again from a timer: on a closed connection that would throw where nobody catches it.
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
      const client = new Client({ connection, namespace, plugins });
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

/** The error TEMPORAL_UNREACHABLE, with what the connection's settings may have to do with it. */
export function unreachable(location: ServerLocation, error: unknown): EverturnError {
  const { address } = location;
  const { tls } = connectionSettings(location);
  const hint =
    tls === undefined || tls === false || tls === null
      ? "The connection was made without TLS: set TEMPORAL_TLS=true if the server requires it."
      : "The connection was made with TLS, which an API key switches on: set TEMPORAL_TLS=false for a server without TLS.";
  return new EverturnError("TEMPORAL_UNREACHABLE", { address, reason: reasonOf(error), hint });
}

/** TLS and keys, from the environment. Throws TEMPORAL_SETTINGS_INVALID. */
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
