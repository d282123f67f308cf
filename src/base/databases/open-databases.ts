import { untilAborted, withOwnSignal } from "../async/abort-signals.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import type { DatabaseSource, QueryLimits, QueryOutcome } from "./outcome.ts";
import type { Answer } from "./protocol.ts";
import { ChildEnded, type QueryChild, startChild } from "./query-child.ts";

/** Runs queries in processes of their own. */
export interface Databases {
  /**
   * Runs one statement within its limits. A faulty statement is an outcome, not an error. Throws DATABASE_UNUSABLE,
   * DATABASE_DRIVER_MISSING, DATABASE_PROCESS_FAILED and the signal's reason.
   */
  query(source: DatabaseSource, sql: string, options?: QueryOptions): Promise<QueryOutcome>;
  /**
   * Lists tables with their columns, one line per table: `Album(AlbumId INTEGER PRIMARY KEY, Title TEXT)`. Throws
   * the same errors as `query`.
   */
  describe(source: DatabaseSource, options?: QueryOptions): Promise<string[]>;
  /** Ends all processes. */
  close(): void;
}

/** Limits that replace the defaults, and a signal that cancels the query. */
export interface QueryOptions {
  limits?: Partial<QueryLimits>;
  signal?: AbortSignal;
}

const usual: QueryLimits = { seconds: 5, rows: 100, bytes: 2 ** 20, memory: 512 };
/** How long an idle process stays alive, in ms. */
const idleTime = 30_000;

/**
 * Opens access to SQLite, DuckDB and PostgreSQL databases. It keeps warm processes, one per concurrent query, and
 * kills a process whose query breaks a limit. `modules` is the caller's `import.meta.url`, from which
 * `@duckdb/node-api` and `pg` are resolved.
 */
export function openDatabases({ modules }: { modules: string }): Databases {
  const idle = new Map<QueryChild, NodeJS.Timeout>();
  let newest = 0;

  async function child(): Promise<QueryChild> {
    for (const [one, timer] of idle) {
      clearTimeout(timer);
      idle.delete(one);
      if (!one.isOver()) return one;
    }
    return startChild();
  }

  function rest(one: QueryChild): void {
    const timer = setTimeout(() => {
      idle.delete(one);
      one.end();
    }, idleTime);
    idle.set(one, timer.unref());
  }

  /** Waits for a process to start. If the caller gave up by then, the process serves the next query. */
  async function awaited(
    starting: Promise<QueryChild>,
    signal: AbortSignal | undefined,
  ): Promise<QueryChild> {
    if (signal === undefined) return starting;
    return withOwnSignal(signal, async (own) => {
      const one = await Promise.race([starting, untilAborted(own)]);
      if (one !== undefined) return one;
      starting.then(rest, () => {}); // no caller is left to see a failed start
      throw signal.reason;
    });
  }

  async function ask(source: DatabaseSource, sql: string | undefined, { limits, signal }: QueryOptions) {
    signal?.throwIfAborted();
    const request = { number: ++newest, source, sql, limits: { ...usual, ...limits }, modules };
    const one = await awaited(child(), signal);
    let message: Answer;
    try {
      message = await one.ask(request, signal);
    } catch (error) {
      one.end();
      throw error;
    }
    if (message.type === "answered") {
      const isOver = ["time-limit", "memory-limit"].includes(message.answer.kind);
      isOver ? one.end() : rest(one);
      return message.answer;
    }
    rest(one);
    const { reason, missing } = message;
    const database = nameOf(source);
    if (missing !== undefined)
      throw new EverturnError("DATABASE_DRIVER_MISSING", { engine: source.engine, missing });
    throw new EverturnError("DATABASE_UNUSABLE", { database, reason });
  }

  return {
    query: async (source, sql, options = {}) => {
      const { seconds, memory } = { ...usual, ...options.limits };
      const isRead = source.engine === "postgresql" || source.write !== true;
      for (let attempt = 1; ; attempt++) {
        try {
          const answer = await ask(source, sql, options);
          if (answer.kind === "described") throw new Error("a query was answered by a description");
          if (answer.kind === "time-limit")
            return { ...answer, message: `the query ran for longer than ${seconds} s and was stopped.` };
          if (answer.kind === "memory-limit")
            return {
              ...answer,
              message: `the query took more than ${memory} MiB of memory and was stopped.`,
            };
          return answer;
        } catch (error) {
          if (!(error instanceof ChildEnded) || !isRead) throw error;
          if (attempt === 2) return { kind: "ended", message: "the database gave up on the query." };
        }
      }
    },
    describe: async (source, options = {}) => {
      const answer = await ask(source, undefined, options);
      if (answer.kind !== "described")
        throw new EverturnError("DATABASE_UNUSABLE", {
          database: nameOf(source),
          reason: `its tables were not told: ${answer.kind}`,
        });
      return answer.tables;
    },
    close: () => {
      for (const [one, timer] of idle) {
        clearTimeout(timer);
        one.end();
      }
      idle.clear();
    },
  };
}

/** A database's name in messages. A URL is not shown, because it may contain a password. */
function nameOf(source: DatabaseSource): string {
  return source.engine === "postgresql" ? "the PostgreSQL database" : source.path;
}
