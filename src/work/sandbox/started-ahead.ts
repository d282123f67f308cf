import { availableParallelism, freemem } from "node:os";

/** What has been started before anybody needs it, and has run nothing yet. Each is handed out once. */
export interface StartedAhead<T> {
  /** One of the kind `kind`, if one is ready; `start` starts another in its place, for who comes next. */
  take(kind: string, start: () => Promise<T>): Promise<T | undefined>;
  /** Ends what nobody took; from then on nothing is started ahead. */
  close(): Promise<void>;
}

interface Options<T> {
  /** MiB that one takes while it waits. */
  memory: number;
  isOver(one: T): boolean;
  end(one: T): Promise<void> | void;
}

/**
 * Keeps what takes its time to start ready, of the kinds that are asked for: one a core in all, as long as they take a tenth of the
 * memory that is free. The first one of a kind takes its place beside the others, or that of another kind once it is asked for twice in a row.
 */
export function startedAhead<T>({ memory, isOver, end }: Options<T>): StartedAhead<T> {
  /** In the order in which they were started. */
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
    const started = await one?.catch(() => undefined); // it is told to nobody: who comes next starts one, too
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
