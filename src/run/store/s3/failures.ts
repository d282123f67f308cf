import { EverturnError, isEverturnError } from "../../../base/errors/everturn-error.ts";
import { messageOf } from "../../../base/errors/message-of.ts";
import { otherServer } from "./place.ts";

/** A failed request in words. */
export interface Failure {
  reason: string;
  /** Only a person can fix it: the address, the bucket, the region, the credentials or their rights. */
  isMistake: boolean;
  /** The server has no space left. */
  isFull: boolean;
}

/** Mistakes by the server's or the client's name for them, with a remedy. */
const mistakes: Record<string, string> = {
  NoSuchBucket: "it has no such bucket: create the bucket, or correct the address",
  InvalidBucketName: "it does not allow this name of a bucket: correct the address",
  AccessDenied:
    "these credentials lack a right: they need s3:GetObject, s3:PutObject, s3:DeleteObject, s3:ListBucket, s3:ListBucketMultipartUploads and s3:AbortMultipartUpload",
  InvalidAccessKeyId: "it does not know the access key: check AWS_ACCESS_KEY_ID or AWS_PROFILE",
  SignatureDoesNotMatch: "the secret key is wrong: check AWS_SECRET_ACCESS_KEY or AWS_PROFILE",
  ExpiredToken: "the credentials have expired: get new ones",
  InvalidToken: "the session token is invalid: check AWS_SESSION_TOKEN",
  PermanentRedirect: "the bucket is in another region: set AWS_REGION to the region of the bucket",
  IllegalLocationConstraintException:
    "the bucket is in another region: set AWS_REGION to the region of the bucket",
  AuthorizationHeaderMalformed: "the bucket is in another region: set AWS_REGION to the region of the bucket",
  CredentialsProviderError:
    "there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
  RequestTimeTooSkewed: "this machine's clock is wrong: set it",
};

/** Names of errors for a full disk or an exhausted quota. */
const full = new Set(["QuotaExceeded", "InsufficientStorage", "XMinioStorageFull"]);

/** Codes of failed connections, whose errors the client does not always mark as its own. */
const connection =
  /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_|ERR_STREAM_PREMATURE_CLOSE|HPE_|ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ABORT_ERR)/;

/** Why a request failed; undefined for an error that is neither the server's nor the connection's. */
export function failureOf(error: unknown): Failure | undefined {
  if (!(error instanceof Error)) return undefined;
  const { name } = error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const status = statusOf(error);
  const known = mistakes[name] ?? (error.message === "Region is missing" ? "set AWS_REGION" : undefined);
  const isOwn =
    "$metadata" in error || known !== undefined || connection.test(code) || name === "TimeoutError";
  if (!isOwn) return undefined;
  const kind = [code || name, status].filter(Boolean).join(" ");
  const text = [kind, messageOf(error)].filter((part) => part !== "" && part !== "UnknownError").join(": ");
  const says = `the server ${serverName()} ${status === undefined ? "did not answer" : "refused a request"} (${text})`;
  return {
    reason: known === undefined ? says : `${says}; ${known}`,
    isMistake: known !== undefined || [301, 401, 403, 405, 501].includes(status ?? 0),
    isFull: full.has(name) || status === 507,
  };
}

/** The HTTP status of a failed request; undefined if there was no answer. */
export function statusOf(error: Error): number | undefined {
  if (!("$metadata" in error) || typeof error.$metadata !== "object" || error.$metadata === null)
    return undefined;
  const { $metadata } = error;
  return "httpStatusCode" in $metadata && typeof $metadata.httpStatusCode === "number"
    ? $metadata.httpStatusCode
    : undefined;
}

/** Throws STORE_NOT_READABLE for a failed request, which may succeed later, and any other error unchanged. */
export function throwRead(error: unknown, file: string): never {
  const failure = failureOf(error);
  if (failure === undefined) throw error;
  throw new EverturnError("STORE_NOT_READABLE", { file, reason: failure.reason }, { cause: error });
}

/**
 * Throws STORE_NOT_WRITABLE or DISK_FULL for a failed request, which may succeed later, and any other error
 * unchanged.
 */
export function throwWrite(error: unknown, file: string): never {
  const failure = failureOf(error);
  if (failure === undefined) throw error;
  if (failure.isFull)
    throw new EverturnError("DISK_FULL", { file, wanted: "", free: "0 MiB" }, { cause: error });
  throw new EverturnError("STORE_NOT_WRITABLE", { file, reason: failure.reason }, { cause: error });
}

/** The error STORE_REFUSED for a mistake that only a person can fix; any other error unchanged. */
export function refusal(store: string, error: unknown): unknown {
  const failure = failureOf(isEverturnError(error) ? error.cause : error);
  if (failure?.isMistake !== true) return error;
  return new EverturnError("STORE_REFUSED", { store, reason: failure.reason }, { cause: error });
}

function serverName(): string {
  return otherServer() ?? "of Amazon S3";
}
