import type { QueryLimits, QueryOutcome } from "./outcome.ts";

/** Limits that a statement observes in its own process. The watcher outside it enforces time and memory. */
export type StatementLimits = QueryLimits & { write: boolean };

/** A database inside a query process. Its functions throw Unusable. */
export interface Engine {
  /** Runs one statement that `refusal` allows. */
  query(sql: string, limits: StatementLimits): Promise<QueryOutcome> | QueryOutcome;
  /** Lists tables with their columns, one line per table. */
  describe(): Promise<string[]> | string[];
}
