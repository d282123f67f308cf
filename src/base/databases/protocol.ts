import type { DatabaseSource, QueryLimits, QueryOutcome } from "./outcome.ts";

/** A request to a query process, which handles one at a time. */
export interface QueryRequest {
  number: number;
  source: DatabaseSource;
  /** Undefined asks for the list of tables. */
  sql: string | undefined;
  limits: QueryLimits;
  /** The URL from which database packages are resolved. */
  modules: string;
}

/** A message from the process. It sends `ready` once it accepts requests. */
export type FromProcess = { type: "ready" } | Answer;

export type Answer =
  | { type: "answered"; answer: QueryOutcome | { kind: "described"; tables: string[] } }
  /** The database is unusable, or its package is missing. */
  | { type: "unusable"; reason: string; missing?: string };
