import { TinkerError } from "../errors.ts";

/** Codes of failures before a request could reach a server. */
const neverSent = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** The error for a request that got no complete answer. `cause` is what `fetch` threw. */
export function connectionFailure(call: string, cause: unknown): TinkerError {
  const code = codeOf(cause);
  const mayHaveRun = code === undefined || !neverSent.has(code);
  const reason = code ?? (cause instanceof Error ? cause.message : String(cause));
  const outcome = mayHaveRun
    ? "The connection failed before the answer was complete, so the server may have executed the request."
    : "The request did not reach a server. Check its address and whether it runs.";
  return new TinkerError("connection", `${call}: no answer (${reason}). ${outcome}`, {
    call,
    mayHaveRun,
    cause,
  });
}

/** The code of the system's or undici's error inside of what `fetch` throws. */
function codeOf(error: unknown): string | undefined {
  for (let inner = error; inner instanceof Error; inner = inner.cause)
    if ("code" in inner && typeof inner.code === "string") return inner.code;
  return undefined;
}
