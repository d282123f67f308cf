import { S3Client } from "@aws-sdk/client-s3";
import { defined } from "../../../base/records/defined.ts";
import { otherServer } from "./place.ts";

/** How long a connection may take to open, and for how long it may be silent, in ms. */
const timeouts = { opening: 5000, silence: 30_000 };

/** Tries of one request, with growing pauses. After them `patiently` repeats the whole operation. */
const tries = 5;

/** Connections of this process to the server. */
const connections = 64;

/** By the server's URL. */
const clients = new Map<string | undefined, S3Client>();

/**
 * This process's client of the server in the environment. Credentials, region and server come from the variables and
 * files that AWS tools read: `AWS_ACCESS_KEY_ID`, `AWS_PROFILE`, `AWS_REGION`, `AWS_ENDPOINT_URL_S3`, the role of a
 * machine or a pod.
 */
export function s3Client(): S3Client {
  const server = otherServer();
  const client = clients.get(server) ?? newClient(server);
  clients.set(server, client);
  return client;
}

function newClient(server: string | undefined): S3Client {
  const { AWS_REGION, AWS_DEFAULT_REGION } = process.env;
  return new S3Client(
    defined({
      maxAttempts: tries,
      requestHandler: {
        connectionTimeout: timeouts.opening,
        socketTimeout: timeouts.silence,
        httpAgent: { keepAlive: true, maxSockets: connections },
        httpsAgent: { keepAlive: true, maxSockets: connections },
      },
      // Records and trees have digests of their own, and some servers don't know these checksums.
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
      endpoint: server,
      // Most servers other than Amazon's have no host name for each bucket, and accept any region.
      forcePathStyle: server !== undefined,
      region: server === undefined ? undefined : (AWS_REGION ?? AWS_DEFAULT_REGION ?? "us-east-1"),
    }),
  );
}
