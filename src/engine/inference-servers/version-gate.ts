/** Allows concurrent work on one version of something, and changes the version when no work is active. */
export interface VersionGate {
  /**
   * Waits until `label` is the current version, then works. Throws the error of a failed change, and the signal's
   * reason.
   */
  run<Result>(label: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result>;
  /** Forgets the current version. The next work looks it up. */
  forget(): void;
}

/** The source of versions. */
export interface VersionSource {
  /** Whether a version is the current one. Called if that is unknown, possibly during other work. */
  isInForce(label: string): Promise<boolean>;
  /** Makes a version the current one. No work is active. */
  change(label: string): Promise<void>;
}

interface Waiting {
  label: string;
  admit(): void;
  refuse(reason: unknown): void;
}

/**
 * First come, first served. While a change waits for earlier work, later work on the current version waits too. After
 * the change, all work that waits for the new version begins.
 */
export function versionGate({ isInForce, change }: VersionSource): VersionGate {
  let current: string | undefined;
  /** A version that is known not to be current. */
  let absent: string | undefined;
  let size = 0;
  let changing = false;
  let waiting: Waiting[] = [];

  const take = (wanted: (one: Waiting) => boolean) => {
    const taken = waiting.filter(wanted);
    waiting = waiting.filter((one) => !taken.includes(one));
    return taken;
  };

  const admit = (one: Waiting) => {
    size += 1;
    one.admit();
  };

  const proceed = () => {
    const first = waiting[0];
    if (changing || first === undefined) return;
    const { label } = first;
    if (label === current) {
      const other = waiting.findIndex((one) => one.label !== current);
      const count = other === -1 ? waiting.length : other;
      waiting.splice(0, count).forEach(admit);
    } else if (current === undefined && absent !== label) {
      settle(label, async () => {
        if (await isInForce(label)) current = label;
        else absent = label;
      });
    } else if (size === 0) {
      settle(label, async () => {
        current = undefined;
        absent = undefined;
        await change(label);
        current = label;
      });
    }
  };

  const settle = (label: string, find: () => Promise<void>) => {
    changing = true;
    find()
      .then(
        () => label === current && take((one) => one.label === label).forEach(admit),
        (reason: unknown) => {
          for (const one of take((waiter) => waiter.label === label)) one.refuse(reason);
        },
      )
      .finally(() => {
        changing = false;
        proceed();
      });
  };

  const enter = (label: string, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const leave = () => {
        take((one) => one === self);
        reject(signal.reason);
        proceed();
      };
      const settled = (finish: () => void) => {
        signal.removeEventListener("abort", leave);
        finish();
      };
      const self: Waiting = {
        label,
        admit: () => settled(resolve),
        refuse: (reason) => settled(() => reject(reason)),
      };
      signal.addEventListener("abort", leave, { once: true });
      waiting.push(self);
      proceed();
    });

  return {
    async run(label, signal, work) {
      signal.throwIfAborted();
      await enter(label, signal);
      try {
        return await work();
      } finally {
        size -= 1;
        proceed();
      }
    },
    forget: () => {
      current = undefined;
      absent = undefined;
    },
  };
}
