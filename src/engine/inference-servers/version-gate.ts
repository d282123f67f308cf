/** Lets work on one version of something go on at once, and changes the version when none is under way. */
export interface VersionGate {
  /** Waits until `label` is the version in force, then works. Throws what a change to it fails with, and the signal's reason. */
  run<Result>(label: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result>;
  /** Forgets which version is in force: the next work finds out. */
  forget(): void;
}

/** Where versions come from. */
export interface VersionSource {
  /** Whether a version is the one in force, where that is not known: asked while work may be under way. */
  isInForce(label: string): Promise<boolean>;
  /** Brings a version into force. Nothing is under way. */
  change(label: string): Promise<void>;
}

interface Waiting {
  label: string;
  admit(): void;
  refuse(reason: unknown): void;
}

/**
 * First come, first served: while a change waits for the work before it, later work of the version in force waits behind
 * it, and once it is made, all that waits for the new version goes on.
 */
export function versionGate({ isInForce, change }: VersionSource): VersionGate {
  let current: string | undefined;
  /** What is known not to be in force. */
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
      const settled = (settle: () => void) => {
        signal.removeEventListener("abort", leave);
        settle();
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
