import { TinkerError, type TinkerErrorCode, withDetails } from "./errors.ts";
import type { Answer } from "./http/answer.ts";
import { badAnswer, isFields, optionalText } from "./http/json.ts";
import { requestFailure } from "./http/refusal.ts";
import { send } from "./http/send.ts";
import { anySignal, pause } from "./http/signals.ts";
import type { Submitted, Transport } from "./transport.ts";
import type { FutureKind, FutureResults, FutureTicket, RequestOptions } from "./types.ts";
import { resultReaders } from "./wire/results.ts";

/** Milliseconds after which a poll starts over, in case its connection died silently. */
const pollTimeoutMs = 45_000;

/** The pause between polls of a server that does not hold them, in milliseconds: first, and at most. */
const [firstPauseMs, longestPauseMs] = [50, 1000];

/** Failures that the server reports of a request, which therefore has not run. After any other failure it may have run. */
const certain: readonly TinkerErrorCode[] = [
  "request-failed",
  "unknown-model",
  "unknown-session",
  "unknown-checkpoint",
  "sequence-reused",
  "out-of-sequence",
  "conflict",
];

/** A request that the server executes, and answers later. */
export class TinkerFuture<Kind extends FutureKind = FutureKind> {
  /** The request as plain JSON. `client.future(ticket)` of any process continues to wait for its result. */
  readonly ticket: FutureTicket<Kind>;
  readonly #transport: Transport;
  #result: FutureResults[Kind] | undefined;

  /** Use `client.future(ticket)`, or a `submit…` method. */
  constructor(transport: Transport, ticket: FutureTicket<Kind>) {
    this.#transport = transport;
    this.ticket = ticket;
  }

  get requestId(): string {
    return this.ticket.requestId;
  }

  /**
   * Waits for the result. It may be called again, and after it threw. Throws the request's failure, `timeout` after
   * `timeoutMs`, `unknown-future` or `future-lost` if the server no longer knows the request, or the signal's reason.
   */
  async result(options: RequestOptions = {}): Promise<FutureResults[Kind]> {
    if (this.#result !== undefined) return this.#result;
    const { kind, requestId } = this.ticket;
    const answer = await awaitAnswer(this.#transport, this.ticket, options);
    try {
      this.#result = resultReaders[kind](answer, this.ticket);
    } catch (error) {
      throw error instanceof TinkerError ? withDetails(error, { requestId, mayHaveRun: true }) : error;
    }
    return this.#result;
  }

  /** Asks the server to give up the request. Returns false if the server can't. Tinker's own can for sampling alone. */
  async cancel(options: RequestOptions = {}): Promise<boolean> {
    const { status } = await send(this.#transport.connection, {
      method: "POST",
      path: "cancel_future",
      body: { request_id: this.requestId },
      repeatable: true,
      accepts: (answer) => [404, 405, 501].includes(answer.status),
      signal: options.signal,
    });
    return status < 300;
  }

  toJSON(): FutureTicket<Kind> {
    return this.ticket;
  }
}

/** The future of a submitted request. Throws `bad-answer` if the server sent no request id. */
export function futureOf<Kind extends FutureKind>(
  transport: Transport,
  kind: Kind,
  submitted: Submitted,
  others: Pick<FutureTicket, "seqId" | "promptLength"> = {},
): TinkerFuture<Kind> {
  const requestId = optionalText(submitted.fields, "request_id");
  if (requestId === undefined)
    throw withDetails(badAnswer("it contains no request_id"), { mayHaveRun: true });
  return new TinkerFuture(transport, { kind, requestId, ...others });
}

/** The result of a request that some servers answer at once and others later. */
export function resultOf<Kind extends FutureKind>(
  transport: Transport,
  kind: Kind,
  submitted: Submitted,
  options: RequestOptions,
): FutureResults[Kind] | Promise<FutureResults[Kind]> {
  if (optionalText(submitted.fields, "request_id") === undefined)
    return resultReaders[kind](submitted.answer, {});
  return futureOf(transport, kind, submitted).result(options);
}

async function awaitAnswer(
  transport: Transport,
  ticket: FutureTicket,
  { signal, timeoutMs }: RequestOptions,
): Promise<Answer> {
  const deadline = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  const either = anySignal(signal, deadline);
  try {
    for (let wait = firstPauseMs; ; wait = Math.min(2 * wait, longestPauseMs)) {
      const answer = await poll(transport, ticket, either);
      if (answer !== undefined) return answer;
      await pause(wait, anySignal(transport.connection.signal, either));
    }
  } catch (error) {
    const { requestId } = ticket;
    if (error instanceof TinkerError)
      throw withDetails(error, { requestId, mayHaveRun: !certain.includes(error.code) });
    if (error !== deadline?.reason || deadline?.aborted !== true) throw error;
    const message = `Request ${requestId} has no result after ${timeoutMs} ms. It continues on the server; ask again later.`;
    throw new TinkerError("timeout", message, { requestId, mayHaveRun: true, cause: error });
  }
}

/** The finished answer; undefined while the server works. Throws the request's failure. */
async function poll(
  transport: Transport,
  { kind, requestId }: FutureTicket,
  signal: AbortSignal | undefined,
): Promise<Answer | undefined> {
  const isBinary = kind === "forward" || kind === "forwardBackward" || kind === "sample";
  const answer = await send(transport.connection, {
    method: "POST",
    path: "retrieve_future",
    body: { request_id: requestId },
    // TuFT sends JSON unless protobuf is named; servers of the JSON wire don't look.
    headers: isBinary ? { accept: "application/x-protobuf" } : {},
    repeatable: true,
    isLongPoll: true,
    answerTimeoutMs: pollTimeoutMs,
    accepts: isNews,
    signal,
  });
  if (answer.status === 408) return undefined;
  if (answer.status >= 300) throw failureOf(answer, kind, answer.json());
  if (answer.isProtobuf) return answer;
  const value = answer.json();
  if (!isFields(value)) return answer;
  if (value.type === "try_again") return undefined;
  if (value.type === "request_failed" || typeof value.error === "string")
    throw failureOf(answer, kind, value);
  return answer;
}

/** SkyRL and TuFT report a failed request by an error status with JSON; other bodies with these statuses come from proxies. */
function isNews({ status, mediaType }: Answer): boolean {
  return status === 408 || ([400, 422, 500].includes(status) && mediaType === "application/json");
}

function failureOf({ status }: Answer, kind: FutureKind, value: unknown): TinkerError {
  const fields = isFields(value) ? value : {};
  const detail = optionalText(fields, "detail") ?? optionalText(fields, "error") ?? JSON.stringify(value);
  const category = optionalText(fields, "category");
  return requestFailure(detail, { call: kind, status, category });
}
