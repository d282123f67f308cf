import type { DatabaseSource, QueryLimits, QueryOutcome } from "./outcome.ts";

/** To a process that runs queries: one at a time. */
export interface QueryRequest {
  number: number;
  source: DatabaseSource;
  /** Undefined: what tables there are. */
  sql: string | undefined;
  limits: QueryLimits;
  /** From where the packages of databases are resolved: a URL. */
  modules: string;
}

/** From it, when it can be asked. */
export type FromProcess = { type: "ready" } | Answer;

export type Answer =
  | { type: "answered"; answer: QueryOutcome | { kind: "described"; tables: string[] } }
  /** The database can't be used, or its package is missing. */
  | { type: "unusable"; reason: string; missing?: string };
