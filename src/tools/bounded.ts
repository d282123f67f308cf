/**
 * Waits for `work` at most `limit` milliseconds, or until `signal` is aborted: its own signal is aborted then, and
 * nobody waits for it any longer, whether it heeds that or not. Throws `timedOut()`, the signal's reason, or what the
 * work throws.
 */
export async function bounded<T>(
  work: (signal: AbortSignal) => Promise<T> | T,
  { limit, signal, timedOut }: { limit: number; signal?: AbortSignal; timedOut: () => Error },
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason));
  });
  const pass = () => controller.abort(signal?.reason);
  const timer = setTimeout(() => controller.abort(timedOut()), limit);
  signal?.addEventListener("abort", pass);
  try {
    return await Promise.race([aborted, (async () => work(controller.signal))()]);
  } catch (error) {
    controller.signal.throwIfAborted(); // what it threw may be how it heeded the signal
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", pass);
  }
}
