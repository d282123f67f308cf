import { setTimeout as sleep } from "node:timers/promises";
import { type RunIndex, runIndex } from "../../results/table/run-index.ts";
import { type AskedRun, isFresh } from "./open-tables.ts";

/** A run's index, and its reads. */
interface Kept {
  index: RunIndex;
  /** When its last read began, and how long that took, in ms. */
  at: number;
  took: number;
  /** The read in progress. */
  reading: Promise<void> | undefined;
  isComplete: boolean;
  /** Why the last read failed. The next page throws this. */
  failure: { error: unknown } | undefined;
  /** Files that the last read could not read. */
  unreadable: ReadonlySet<string>;
}

/** The trajectories of a run as of the last read. */
export interface ShownIndex extends Pick<RunIndex, "rows" | "running" | "progress"> {
  /** Whether they were read completely at least once. Otherwise `rows` is empty, and `progress` grows. */
  isComplete: boolean;
}

/** Indexes of runs' trajectories. */
export interface Indexes {
  /**
   * A run's index, read again if it is too old. A long read continues in the background; if it fails, the next call
   * throws its error. Unreadable files are added to the run's `unreadable`.
   */
  of(run: AskedRun): Promise<ShownIndex>;
}

/** The most indexes that are kept: those that were used last. */
const most = 4;

/** Opens indexes on demand. A page waits for a read for at most `patience` ms. */
export function openIndexes(patience = 150): Indexes {
  const indexes = new Map<string, Kept>();

  function keptOf({ id }: AskedRun): Kept {
    const known = indexes.get(id);
    const kept: Kept = known ?? {
      index: runIndex(),
      at: Number.NEGATIVE_INFINITY,
      took: 0,
      reading: undefined,
      isComplete: false,
      failure: undefined,
      unreadable: new Set(),
    };
    indexes.delete(id);
    indexes.set(id, kept);
    for (const unused of [...indexes.keys()].slice(0, -most)) indexes.delete(unused);
    return kept;
  }

  async function read(kept: Kept, run: AskedRun): Promise<void> {
    const began = performance.now();
    kept.at = began;
    kept.unreadable = run.unreadable;
    try {
      await kept.index.read(run);
      kept.took = performance.now() - began;
      kept.isComplete = true;
    } catch (error) {
      kept.at = Number.NEGATIVE_INFINITY; // the page after the next one tries again
      kept.failure = { error };
    } finally {
      kept.reading = undefined;
    }
  }

  return {
    of: async (run) => {
      const kept = keptOf(run);
      const isDue = kept.reading === undefined && kept.failure === undefined && !isFresh(kept);
      if (isDue) kept.reading = read(kept, run);
      if (kept.reading !== undefined) await Promise.race([kept.reading, sleep(patience)]);
      const { failure } = kept;
      kept.failure = undefined;
      if (failure !== undefined) throw failure.error;
      for (const one of kept.unreadable) run.unreadable.add(one);
      const { index, isComplete } = kept;
      return { rows: index.rows, running: index.running, progress: index.progress, isComplete };
    },
  };
}
