import type { QueryLimits, QueryOutcome } from "./outcome.ts";

/** What bounds a statement in its process; time and memory are watched from outside. */
export type StatementLimits = QueryLimits & { write: boolean };

/** A database, in the process of a query. Its functions throw Unusable. */
export interface Engine {
  /** Runs one statement that `refusal` has let through. */
  query(sql: string, limits: StatementLimits): Promise<QueryOutcome> | QueryOutcome;
  /** Tables and columns, a line a table. */
  describe(): Promise<string[]> | string[];
}
