/** A call that somebody waits for until it is answered or given up; what comes later changes nothing. */
export interface Bounded<Answer> {
  answer: Promise<Answer>;
  isAwaited(): boolean;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

interface Bounds {
  /** Milliseconds that it may take once it has begun. */
  limit: number;
  /** Milliseconds since it began; undefined while it stands in line. */
  time: () => number | undefined;
  signal: AbortSignal | undefined;
  timedOut: () => Error;
  /** It has stood in line for as long as it might take. */
  onStanding: () => void;
  /** Its time is over, or `signal` was aborted. */
  onGivenUp: (reason: unknown) => void;
}

/** A call that is about to be made. Throws the signal's reason if it is aborted already. */
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
    else setImmediate(() => giveUp(timedOut())); // its answer may be here already, if it is this thread that was busy
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
