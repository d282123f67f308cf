import { TinkerError, type TinkerErrorCode, type TinkerErrorDetails } from "../errors.ts";
import type { Answer } from "./answer.ts";
import { type Fields, isFields, optionalText } from "./json.ts";

/** Words of servers that tell one refusal from others with the same status, first match first. */
const phrases: readonly [RegExp, TinkerErrorCode][] = [
  [/sequence number was reused/i, "sequence-reused"],
  [/Sequence conflict/i, "out-of-sequence"],
  [/Checkpoint '.*' already exists/i, "checkpoint-exists"],
  [/Checkpoint is still being created/i, "checkpoint-pending"],
  [/(Checkpoint|Source session) .*not found|Checkpoint not found/i, "unknown-checkpoint"],
  [/Session .*not found|Session not found/i, "unknown-session"],
  [
    /Model .*not loaded|Model .*not found|model_id not found|Unknown model|Adapter .*not found|KeyError: '\S+\/live_state\/|session \S+ not loaded/i,
    "unknown-model",
  ],
  [/(Future|request_id) .*not found|Future not found/i, "unknown-future"],
];

const codes: Readonly<Record<number, TinkerErrorCode>> = {
  301: "bad-answer",
  302: "bad-answer",
  307: "bad-answer",
  308: "bad-answer",
  400: "invalid-request",
  401: "unauthorized",
  402: "payment-required",
  403: "unauthorized",
  404: "not-supported",
  405: "not-supported",
  408: "timeout",
  409: "conflict",
  410: "future-lost",
  413: "too-large",
  415: "unsupported-media",
  422: "invalid-request",
  425: "checkpoint-pending",
  429: "rate-limited",
  501: "not-supported",
};

const help: Readonly<Partial<Record<TinkerErrorCode, string>>> = {
  "bad-answer": "The answer redirects to another address. Set baseUrl to the server's final address.",
  unauthorized: "Set TINKER_API_KEY or apiKey to a key of this server.",
  "payment-required": "The account of this key can't be charged.",
  "unknown-session": "Create a session; the server has dropped or forgotten this one.",
  "unknown-model": "The server lost this model. Load its last checkpoint into a new one.",
  "unknown-checkpoint": "Check the path, and whether the server kept its checkpoints.",
  "unknown-future": "The server forgot this request, for example at a restart.",
  "future-lost": "The server gave up this request, for example because it returned to an earlier checkpoint.",
  "sequence-reused": "A different request had this number before. Give each request a number of its own.",
  "out-of-sequence":
    "If the expected number is higher, the server has executed this one. If it is lower, requests are missing.",
  "checkpoint-exists": "Choose another name, unless an earlier attempt of yours saved it.",
  "checkpoint-pending": "Try again when the checkpoint is complete.",
  "unsupported-media": "Choose the other wire format.",
  "not-supported": "This server does not offer the call or setting.",
  "too-large": "Send fewer examples per request.",
};

/** The error that an answer with an error status means. `call` names the call, such as `POST /api/v1/optim_step`. */
export function refusal(answer: Answer, call: string): TinkerError {
  const detail = detailOf(answer);
  const { status } = answer;
  const code = phraseCode(detail) ?? (status >= 500 && status !== 501 ? "server" : codes[status]);
  return failure(code ?? "invalid-request", detail, {
    call,
    status,
    mayHaveRun: status >= 500 && status !== 501,
  });
}

/** The error that a failed request's own answer means; `status` is that of the HTTP answer. */
export function requestFailure(detail: string, details: TinkerErrorDetails): TinkerError {
  return failure(phraseCode(detail) ?? "request-failed", detail, details);
}

function failure(code: TinkerErrorCode, detail: string, details: TinkerErrorDetails): TinkerError {
  const { call = "", status } = details;
  const [, expected, got] = /expected (\d+), got (\d+)/.exec(detail) ?? [];
  const message = [
    `${call}: ${status ?? ""} ${summary(detail)}`.replaceAll(/ {2,}/g, " ").trim(),
    help[code] ?? "",
  ];
  return new TinkerError(code, message.join(" ").trim(), {
    ...details,
    detail,
    expected: expected === undefined ? undefined : Number(expected),
    got: got === undefined ? undefined : Number(got),
  });
}

function phraseCode(detail: string): TinkerErrorCode | undefined {
  return phrases.find(([phrase]) => phrase.test(detail))?.[1];
}

/** The server's own words: FastAPI's `detail`, a list of problems, or the body itself. */
function detailOf(answer: Answer): string {
  const { text } = answer;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text; // a proxy's page, or an exception's text
  }
  if (!isFields(value)) return text;
  const { detail } = value;
  if (Array.isArray(detail)) return detail.map(problemOf).join("; ");
  if (typeof detail === "string") return detail;
  return optionalText(value, "error") ?? optionalText(value, "message") ?? text;
}

/** One problem of FastAPI's list, as `place: message`. */
function problemOf(problem: unknown): string {
  if (!isFields(problem)) return JSON.stringify(problem);
  return `${placeOf(problem)}: ${optionalText(problem, "msg") ?? JSON.stringify(problem)}`;
}

function placeOf({ loc }: Fields): string {
  return Array.isArray(loc) ? loc.join(".") : "request";
}

/** One line for the message: the last line of a Python stack trace, or the first of another text, without a page's tags. */
function summary(detail: string): string {
  const lines = detail
    .replaceAll(/<[^>]*>/g, " ")
    .split("\n")
    .map((one) => one.replaceAll(/\s+/g, " ").trim())
    .filter((one) => one !== "");
  const line = (detail.includes("Traceback") ? lines.at(-1) : lines[0]) ?? "no explanation";
  const short = line.length > 300 ? `${line.slice(0, 300)}…` : line;
  return /[.!?…]$/.test(short) ? short : `${short}.`;
}
