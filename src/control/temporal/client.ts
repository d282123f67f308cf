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
import { untilAborted } from "../../base/async/abort-signals.ts";
import { defined } from "../../base/records/defined.ts";
import { dataConverter } from "../encryption/data-converter.ts";
import type { Encryption } from "../encryption/encryption-codec.ts";
import { connectionSettings, type ServerLocation } from "./connection-settings.ts";
import { connectionTrouble } from "./connection-trouble.ts";
import { grpcCodes } from "./grpc-codes.ts";

/** The longest pause before a failed call is retried, in ms, and how often it is retried: for half a minute. */
const retries = { pause: 500, attempts: 60 };

/** How long one attempt to connect to a server may take, in ms. */
const connectTimeout = 2000;

/**
 * Whether an error means that the server is away, or had no time for a call. The client words an expired deadline
 * differently.
 */
function isAway({ code, details }: Parameters<typeof isRetryableError>[0]): boolean {
  const { unavailable, deadlineExceeded } = grpcCodes;
  return code === unavailable || (code === deadlineExceeded && details === "context deadline exceeded");
}

/**
 * Connects a client. TLS and keys come from the environment. When `closing` aborts, failed calls are no longer
 * retried. `close` closes the connection. With `outlastsOutages`, a call waits as long as necessary for a server
 * that went away, and the first connection to a run's own server waits too, because it may have stopped since it was
 * up. With `encryption`, it encrypts and decrypts payloads. Throws TEMPORAL_UNREACHABLE, TEMPORAL_TLS_FAILED and
 * TEMPORAL_UNAUTHORIZED.
 */
export async function connectClient(
  location: ServerLocation,
  plugins: ClientPlugin[],
  closing: AbortSignal,
  {
    outlastsOutages = false,
    encryption,
    onLimited = () => {},
  }: {
    outlastsOutages?: boolean;
    encryption?: Encryption | undefined;
    /** Receives the server's explanation when it limits the rate of calls. */
    onLimited?: (details: string) => void;
  } = {},
): Promise<{ client: Client; connection: Connection; close(): Promise<void> }> {
  const { address, namespace } = location;
  const settings = connectionSettings(location);
  const isWaitedFor = outlastsOutages && location.isOwn;
  let isConnected = false;
  const { delayFunction } = defaultGrpcRetryOptions();
  const retry = makeGrpcRetryInterceptor({
    retryableDecider: (attempt, status) => {
      if (status.code === grpcCodes.resourceExhausted) onLimited(status.details);
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
      if (!isWaitedFor || closing.aborted) throw await connectionTrouble(location, error);
      await sleep(retries.pause);
    }
  }
}
