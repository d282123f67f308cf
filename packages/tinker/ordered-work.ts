import { abortable } from "./http/signals.ts";

/** Lets pieces of work run one after another, in the order in which they came. */
export class OrderedWork {
  #last: Promise<void> = Promise.resolve();

  /** Does the work after that of all earlier calls, whatever became of it. Rejects early if the signal aborts. */
  async next<Value>(signal: AbortSignal | undefined, work: () => Promise<Value>): Promise<Value> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = before.then(() => promise);
    try {
      await abortable(before, signal);
      return await work();
    } finally {
      resolve();
    }
  }
}
