/** Who uses a thing that may be closed meanwhile: closing refuses what comes, and waits for what is under way. */
export interface Usage {
  /** Does work with the thing. Throws the refusal if it is being closed. */
  during<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Throws the refusal if the thing is being closed. */
  check(): void;
  /** Frees the thing as soon as nothing is under way; once, however often it is asked for. */
  end(free: () => Promise<void> | void): Promise<void>;
}

/** Nobody uses it yet. `refusal` makes the error for those who come after it was closed. */
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
