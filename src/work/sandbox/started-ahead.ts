import { availableParallelism, freemem } from "node:os";

/** Things started before anything needs them, and not used yet. Each is handed out once. */
export interface StartedAhead<T> {
  /** Returns one of the kind `kind` if one is ready. `start` starts a replacement for the next caller. */
  take(kind: string, start: () => Promise<T>): Promise<T | undefined>;
  /** Ends those that were not taken. After that, nothing is prestarted. */
  close(): Promise<void>;
}

interface Options<T> {
  /** The MiB of one while it waits. */
  memory: number;
  isOver(one: T): boolean;
  end(one: T): Promise<void> | void;
}

/**
 * Keeps slow starters ready, of the kinds that callers request: at most one per core, and within a tenth of
 * the free memory. The first one of a kind is added if there is room. Otherwise it replaces one of another
 * kind, once its kind is requested twice in a row.
 */
export function startedAhead<T>({ memory, isOver, end }: Options<T>): StartedAhead<T> {
  /** In the order of their start. */
  const ready: { kind: string; one: Promise<T> }[] = [];
  let newest: string | undefined;
  let isClosed = false;

  function most(): number {
    return Math.max(1, Math.min(availableParallelism(), Math.floor((0.1 * freemem()) / 2 ** 20 / memory)));
  }

  function remove(at: number): Promise<T> | undefined {
    return at === -1 ? undefined : ready.splice(at, 1)[0]?.one;
  }

  async function drop(one: Promise<T> | undefined): Promise<void> {
    const started = await one?.catch(() => undefined); // nothing sees the error: the next caller starts one itself
    if (started !== undefined) await end(started);
  }

  function fill(kind: string, isRepeated: boolean, start: () => Promise<T>): void {
    if (isClosed) return;
    if (ready.length >= most()) {
      if (!isRepeated || ready.some((entry) => entry.kind === kind)) return;
      void drop(remove(0));
    }
    const one = start();
    one.catch(() => {});
    ready.push({ kind, one });
  }

  return {
    take: async (kind, start) => {
      const isRepeated = newest === kind;
      newest = kind;
      const taken = await remove(ready.findIndex((one) => one.kind === kind))?.catch(() => undefined);
      fill(kind, isRepeated, start);
      if (taken === undefined || !isOver(taken)) return taken;
      await end(taken);
      return undefined;
    },
    close: async () => {
      isClosed = true;
      await Promise.all(ready.splice(0).map(({ one }) => drop(one)));
    },
  };
}
