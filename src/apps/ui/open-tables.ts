import { openTrajectoryTable, type QueryTable } from "../../results/table/open-query.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";

/** A run, with its files that could not be read so far. */
export interface AskedRun extends OpenRun {
  unreadable: Set<string>;
}

/** A table, and how many queries use it now. */
interface Opened {
  table: Promise<QueryTable>;
  /** Files that could not be read for it. */
  unreadable: ReadonlySet<string>;
  /** When it was requested, and how long it took, in ms. */
  at: number;
  took: number;
  using: number;
  isRetired: boolean;
}

/** Open tables of runs' trajectories. Each contains all of a run's trajectories in memory. */
export interface Tables {
  /**
   * Runs `work` with a run's table, which is reopened if it is too old. Unreadable files of the table are added to
   * the run's `unreadable`. Throws QUERY_DRIVER_MISSING.
   */
  use<Result>(run: AskedRun, work: (table: QueryTable) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/**
 * The maximum age of a table, in ms, or as a multiple of the time to open it, so that a large one is not reopened
 * for each look.
 */
const oldest = { age: 10_000, times: 60 };

/** Whether a table that was requested at a time, and took a time to open, is not too old. */
export function isFresh({ at, took }: Pick<Opened, "at" | "took">): boolean {
  return performance.now() - at <= Math.max(oldest.age, oldest.times * took);
}

/** Keeps the tables of the `most` runs that were used last. */
export function openTables(most = 2): Tables {
  const tables = new Map<string, Opened>();

  async function closeUnused(opened: Opened): Promise<void> {
    if (opened.isRetired && opened.using === 0) (await opened.table).close();
  }

  async function retire(run: string): Promise<void> {
    const opened = tables.get(run);
    if (opened === undefined) return;
    tables.delete(run);
    opened.isRetired = true;
    await closeUnused(opened).catch(() => {}); // its own caller gets the error
  }

  function tableOf(run: AskedRun): Opened {
    const known = tables.get(run.id);
    if (known !== undefined && isFresh(known)) {
      tables.delete(run.id);
      tables.set(run.id, known);
      return known;
    }
    const table = openTrajectoryTable(run);
    const opened: Opened = {
      table,
      unreadable: run.unreadable,
      at: performance.now(),
      took: 0,
      using: 0,
      isRetired: false,
    };
    void retire(run.id);
    tables.set(run.id, opened);
    for (const [unused] of [...tables].slice(0, -most)) void retire(unused);
    table.then(
      () => {
        opened.took = performance.now() - opened.at;
      },
      () => {
        if (tables.get(run.id) === opened) tables.delete(run.id);
      },
    );
    return opened;
  }

  return {
    use: async (run, work) => {
      const opened = tableOf(run);
      opened.using++;
      try {
        return await work(await opened.table);
      } finally {
        opened.using--;
        for (const one of opened.unreadable) run.unreadable.add(one);
        await closeUnused(opened).catch(() => {}); // it never opened: `work` got the error
      }
    },
    close: async () => {
      await Promise.all([...tables.keys()].map(retire));
    },
  };
}
