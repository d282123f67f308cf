import { once } from "node:events";

/** Aborts as soon as one of them does. */
export function anyOf(...signals: (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}

/** Resolves when the signal aborts, or has. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

/**
 * Does `work` with a signal that aborts when `signal` does, and that is let go with it. Temporal's client adds a listener for
 * each call to the signal that it is given and removes none: on one that lives as long as the process, all answers would stay.
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
