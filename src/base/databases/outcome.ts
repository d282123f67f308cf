/** A decimal that no JavaScript number holds, by its digits. */
export interface SqlDecimal {
  decimal: string;
}

/** A value of a result: whole numbers are bigint, dates and times are text, what is neither is text as the database writes it. */
export type SqlValue = null | boolean | number | bigint | string | Uint8Array | SqlDecimal;

/** Where a database is. `write` lets statements change it. */
export type DatabaseSource =
  | { engine: "sqlite" | "duckdb"; path: string; write?: boolean }
  | { engine: "postgresql"; url: string };

/** What bounds a query, whatever it says. */
export interface QueryLimits {
  /** Seconds that it may run. Default 5. */
  seconds: number;
  /** Rows that are read of its result. Default 100. */
  rows: number;
  /** Bytes that are read of its result, about. Default 1 MiB. */
  bytes: number;
  /** MiB that its process may hold. Default 512. */
  memory: number;
}

/** What became of a query: never the host's failure, which is thrown. */
export type QueryOutcome =
  /** `more` says which limit cut the result. */
  | { kind: "rows"; columns: string[]; rows: SqlValue[][]; more?: "rows" | "bytes" }
  | { kind: "changed"; changes: number }
  /** It was not run: it is more than a query, or more than one. */
  | { kind: "refused"; message: string }
  /** The database said no: a syntax error, no such table. */
  | { kind: "failed"; message: string }
  /** Its process was ended. */
  | { kind: "time-limit" | "memory-limit" | "ended"; message: string };
