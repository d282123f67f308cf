/** A decimal that no JavaScript number can represent, kept as digits. */
export interface SqlDecimal {
  decimal: string;
}

/**
 * A value in a result. Whole numbers are bigint, dates and times are text, and other types are text as the database
 * writes them.
 */
export type SqlValue = null | boolean | number | bigint | string | Uint8Array | SqlDecimal;

/** Identifies a database. `write` lets statements change it. */
export type DatabaseSource =
  | { engine: "sqlite" | "duckdb"; path: string; write?: boolean }
  | { engine: "postgresql"; url: string };

/** Limits on any query. */
export interface QueryLimits {
  /** How long it may run, in seconds. Default 5. */
  seconds: number;
  /** How many rows of its result are read. Default 100. */
  rows: number;
  /** About how many bytes of its result are read. Default 1 MiB. */
  bytes: number;
  /** How much memory its process may use, in MiB. Default 512. */
  memory: number;
}

/** The outcome of a query. Failures of the machine are thrown instead. */
export type QueryOutcome =
  /** `more` names the limit that cut the result. */
  | { kind: "rows"; columns: string[]; rows: SqlValue[][]; more?: "rows" | "bytes" }
  | { kind: "changed"; changes: number }
  /** The text was not run, because it is not a single query. */
  | { kind: "refused"; message: string }
  /** The database rejected it: a syntax error, or an unknown table. */
  | { kind: "failed"; message: string }
  /** Its process was killed. */
  | { kind: "time-limit" | "memory-limit" | "ended"; message: string };
