/** What went wrong. README.md explains each code and what to do. */
export type TinkerErrorCode =
  | "connection"
  | "timeout"
  | "unauthorized"
  | "payment-required"
  | "unknown-session"
  | "unknown-model"
  | "unknown-checkpoint"
  | "unknown-future"
  | "future-lost"
  | "sequence-reused"
  | "out-of-sequence"
  | "checkpoint-exists"
  | "checkpoint-pending"
  | "conflict"
  | "request-failed"
  | "invalid-request"
  | "unexpected-base-model"
  | "too-large"
  | "unsupported-media"
  | "not-supported"
  | "rate-limited"
  | "server"
  | "bad-answer";

/** What a `TinkerError` knows besides its code and message. */
export interface TinkerErrorDetails {
  /** The call, such as `POST /api/v1/optim_step`. */
  readonly call?: string | undefined;
  /** The HTTP status of the answer. */
  readonly status?: number | undefined;
  /** The server's own words, unchanged. They may contain stack traces. */
  readonly detail?: string | undefined;
  /** The request whose result was awaited. */
  readonly requestId?: string | undefined;
  /** The number that the server expected next (`out-of-sequence`). */
  readonly expected?: number | undefined;
  /** The number that the server got instead (`out-of-sequence`). */
  readonly got?: number | undefined;
  /** Who caused the failure, in the server's words (`request-failed`), such as `user_error`. */
  readonly category?: string | undefined;
  /** How often the request was sent. Default 1. */
  readonly attempts?: number | undefined;
  /**
   * Whether the server may have executed the request although it reported no result: the answer to one of the attempts was
   * lost, or unreadable, or a server error. Default false.
   */
  readonly mayHaveRun?: boolean | undefined;
  readonly cause?: unknown | undefined;
}

/** The one error of this package. `code` tells cases apart; the message names the call and what to do. */
export class TinkerError extends Error {
  override readonly name = "TinkerError";
  readonly code: TinkerErrorCode;
  readonly call: string | undefined;
  readonly status: number | undefined;
  readonly detail: string | undefined;
  readonly requestId: string | undefined;
  readonly expected: number | undefined;
  readonly got: number | undefined;
  readonly category: string | undefined;
  readonly attempts: number;
  readonly mayHaveRun: boolean;

  constructor(code: TinkerErrorCode, message: string, details: TinkerErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.call = details.call;
    this.status = details.status;
    this.detail = details.detail;
    this.requestId = details.requestId;
    this.expected = details.expected;
    this.got = details.got;
    this.category = details.category;
    this.attempts = details.attempts ?? 1;
    this.mayHaveRun = details.mayHaveRun ?? false;
  }
}

/** The same error with other details. */
export function withDetails(error: TinkerError, details: TinkerErrorDetails): TinkerError {
  const { call, status, detail, requestId, expected, got, category, attempts, mayHaveRun, cause } = error;
  const known = { call, status, detail, requestId, expected, got, category, attempts, mayHaveRun, cause };
  return new TinkerError(error.code, error.message, { ...known, ...details });
}
