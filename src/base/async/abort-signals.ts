import { once } from "node:events";

/** A signal that aborts as soon as one of `signals` does. */
export function anyOf(...signals: (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}

/** Resolves once the signal has aborted. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

/**
 * Runs `work` with a signal of its own that aborts when `signal` does. Temporal's client adds a listener to the
 * signal for each call and never removes it, so a signal that lives as long as the process would keep every answer.
 */
export async function withOwnSignal<Result>(
  signal: AbortSignal,
  work: (own: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const own = new AbortController();
  const abort = () => own.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort);
  try {
    return await work(own.signal);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
