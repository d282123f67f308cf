import { type TinkerError, withDetails } from "../errors.ts";
import { Answer } from "./answer.ts";
import { connectionFailure } from "./connection.ts";
import type { Credential } from "./credential.ts";
import { refusal } from "./refusal.ts";
import { anySignal, pause } from "./signals.ts";

/** How failed requests are repeated. */
export interface RetryPolicy {
  /** How often a request is sent at most. Default 10. */
  readonly attempts: number;
  /** The pause before the first repetition, in milliseconds. It doubles with each one. Default 500. */
  readonly minDelayMs: number;
  /** The longest pause of the client's own, in milliseconds. It follows a `Retry-After` up to a minute. Default 10,000. */
  readonly maxDelayMs: number;
}

/** One request to the server. */
export interface Request {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path below the API's base, without a leading slash. */
  readonly path: string;
  /** The body, made once and sent unchanged in each attempt: a value as JSON, or bytes. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Whether the request may be sent again although the server may have executed it. */
  readonly repeatable: boolean;
  /** Which answers with an error status are for the caller. */
  readonly accepts?: (answer: Answer) => boolean;
  /** Whether the server holds the request until it has news. The client then asks again without counting attempts. */
  readonly isLongPoll?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for one answer, in milliseconds. Default: the client's `requestTimeoutMs`. */
  readonly answerTimeoutMs?: number | undefined;
}

/** What all requests of a client share. */
export interface Connection {
  readonly baseUrl: string;
  readonly credential: Credential;
  readonly fetch: typeof globalThis.fetch;
  readonly retry: RetryPolicy;
  readonly requestTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** The path that all of the API's calls share. */
export const apiPath = "/api/v1/";

/**
 * Sends a request until it is answered. It repeats connection failures, 429, 425 and 5xx; a request that is not repeatable only
 * if the server surely did not execute it. Throws a `TinkerError`, or the reason of an aborted signal.
 */
export async function send(connection: Connection, request: Request): Promise<Answer> {
  const signal = anySignal(connection.signal, request.signal);
  const body = bodyOf(request.body);
  let mayHaveRun = false;
  let isReplaced = false;
  let key = await connection.credential.current(signal);
  for (let attempts = 1; ; attempts += 1) {
    signal?.throwIfAborted();
    const { answer, failure, isLate } = await attempt(connection, request, { body, key }, signal);
    if (failure === undefined) return answer;
    if (isLate && request.isLongPoll) {
      attempts = 0;
      key = await connection.credential.current(signal);
      continue;
    }
    const other = answer?.rejectsToken && !isReplaced && (await connection.credential.instead(key, signal));
    if (other) {
      isReplaced = true;
      attempts -= 1;
      key = other;
      continue;
    }
    mayHaveRun ||= failure.mayHaveRun;
    const isAllowed = request.repeatable || !failure.mayHaveRun;
    const repeats = isTransient(failure) && isAllowed && answer?.forbidsRetry !== true;
    if (!repeats || attempts >= connection.retry.attempts)
      throw withDetails(failure, { attempts, mayHaveRun });
    await pause(delayOf(connection.retry, attempts, answer?.retryAfter), signal);
    key = await connection.credential.current(signal);
  }
}

/** The longest pause that a server may ask for, in milliseconds. For a longer one, the client chooses its own. */
const longestRetryAfterMs = 60_000;

/** The pause before the next attempt, in milliseconds, with a quarter of jitter. */
function delayOf(retry: RetryPolicy, attempts: number, retryAfter: number | undefined): number {
  if (retryAfter !== undefined && retryAfter * 1000 <= longestRetryAfterMs) return retryAfter * 1000;
  const delay = Math.min(retry.minDelayMs * 2 ** (attempts - 1), retry.maxDelayMs);
  return delay * (0.75 + Math.random() / 4);
}

type Attempt =
  | { readonly answer: Answer; readonly failure?: undefined; readonly isLate?: undefined }
  | { readonly answer?: Answer; readonly failure: TinkerError; readonly isLate?: boolean };

async function attempt(
  connection: Connection,
  request: Request,
  { body, key }: { body: Body; key: string | undefined },
  signal: AbortSignal | undefined,
): Promise<Attempt> {
  const call = `${request.method} ${apiPath}${request.path}`;
  const { answerTimeoutMs = connection.requestTimeoutMs } = request;
  const timeout = AbortSignal.timeout(answerTimeoutMs);
  const { fetch } = connection;
  let answer: Answer;
  try {
    const response = await fetch(`${connection.baseUrl}${apiPath}${request.path}`, {
      method: request.method,
      headers: { ...headersOf(key), ...body.headers, ...request.headers },
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      redirect: "manual",
      body: body.bytes,
    });
    answer = await answerOf(response, key);
  } catch (error) {
    signal?.throwIfAborted();
    const cause = timeout.aborted ? new Error(`none within ${answerTimeoutMs} ms`, { cause: error }) : error;
    return { failure: connectionFailure(call, cause), isLate: timeout.aborted };
  }
  if (answer.status < 300 || request.accepts?.(answer)) return { answer };
  return { answer, failure: answerFailure(answer, call) };
}

/** Servers explain a 400 in JSON. Proxies send others when a connection of theirs broke. */
function answerFailure(answer: Answer, call: string): TinkerError {
  if (answer.status === 400 && answer.mediaType !== "application/json")
    return connectionFailure(call, new Error("status 400 from a proxy"));
  return refusal(answer, call);
}

/** The shortest API key that is looked for in answers. A shorter one may be an ordinary word. */
const keyLength = 8;

/** Reads an answer. Servers may repeat the API key in messages, which end up in logs, so it is removed there. */
export async function answerOf(response: Response, apiKey: string | undefined): Promise<Answer> {
  const { status, headers } = response;
  const bytes = new Uint8Array(await response.arrayBuffer());
  const answer = new Answer(status, headers, bytes);
  if (apiKey === undefined || apiKey.length < keyLength || answer.isProtobuf) return answer;
  if (!answer.text.includes(apiKey)) return answer;
  return new Answer(status, headers, new TextEncoder().encode(answer.text.replaceAll(apiKey, "[API key]")));
}

/** The headers of every request. */
export function headersOf(key: string | undefined): Record<string, string> {
  const headers = { "user-agent": "everturn-tinker", accept: "application/json" };
  return key === undefined ? headers : { ...headers, "x-api-key": key };
}

interface Body {
  readonly bytes: Uint8Array<ArrayBuffer> | string | null;
  readonly headers: Readonly<Record<string, string>>;
}

function bodyOf(body: unknown): Body {
  if (body === undefined) return { bytes: null, headers: {} };
  if (body instanceof Uint8Array) return { bytes: Uint8Array.from(body), headers: {} };
  return { bytes: JSON.stringify(body), headers: { "content-type": "application/json" } };
}

function isTransient({ code }: TinkerError): boolean {
  return ["connection", "rate-limited", "server", "checkpoint-pending"].includes(code);
}
