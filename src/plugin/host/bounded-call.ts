/** A call with a limit. Its caller waits until it is answered or abandoned. Later answers have no effect. */
export interface Bounded<Answer> {
  answer: Promise<Answer>;
  isAwaited(): boolean;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

interface Bounds {
  /** The maximum milliseconds after it has begun. */
  limit: number;
  /** Milliseconds since it began. Undefined while it waits in the queue. */
  time: () => number | undefined;
  signal: AbortSignal | undefined;
  timedOut: () => Error;
  /** Called when it has waited in the queue for as long as its limit. */
  onStanding: () => void;
  /** Called when its time is up or `signal` was aborted. */
  onGivenUp: (reason: unknown) => void;
}

/** Prepares a call. Throws the signal's reason if it is already aborted. */
export function boundedCall<Answer>(bounds: Bounds): Bounded<Answer> {
  const { limit, time, signal, timedOut, onStanding, onGivenUp } = bounds;
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  let isAwaited = true;
  let timer = setTimeout(look, limit);
  signal?.addEventListener("abort", cancel);

  function look(): void {
    const taken = time();
    if (taken === undefined) onStanding();
    if (taken === undefined || taken < limit) timer = setTimeout(look, limit - (taken ?? 0));
    else setImmediate(() => giveUp(timedOut())); // if this thread was busy, the answer may already be here
  }

  function settle(): void {
    isAwaited = false;
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
  }

  function giveUp(reason: unknown): void {
    if (!isAwaited) return;
    settle();
    reject(reason);
    onGivenUp(reason);
  }

  function cancel(): void {
    giveUp(signal?.reason);
  }

  return {
    answer: promise,
    isAwaited: () => isAwaited,
    resolve: (answer) => {
      resolve(answer);
      settle();
    },
    reject: (error) => {
      reject(error);
      settle();
    },
  };
}
