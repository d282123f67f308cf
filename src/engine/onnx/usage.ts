/** Tracks the users of a thing that may be closed meanwhile. Closing rejects new users and waits for current ones. */
export interface Usage {
  /** Runs work with the thing. Throws the refusal if it is being closed. */
  during<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Throws the refusal if the thing is being closed. */
  check(): void;
  /** Frees the thing once when nobody uses it, however often this is called. */
  end(free: () => Promise<void> | void): Promise<void>;
}

/** Creates a tracker without users. `refusal` returns the error for later users. */
export function createUsage(refusal: () => Error): Usage {
  let underWay = 0;
  let ended: Promise<void> | undefined;
  let tellIdle = () => {};

  const check = () => {
    if (ended) throw refusal();
  };
  const idle = async () => {
    if (underWay > 0) await new Promise<void>((resolve) => (tellIdle = resolve));
  };

  return {
    check,
    async during(work) {
      check();
      underWay++;
      try {
        return await work();
      } finally {
        underWay--;
        if (underWay === 0) tellIdle();
      }
    },
    end(free) {
      ended ??= idle().then(free);
      return ended;
    },
  };
}
