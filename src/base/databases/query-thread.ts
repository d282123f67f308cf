import { parentPort } from "node:worker_threads";
import { messageOf } from "../errors/message-of.ts";
import { defined } from "../records/defined.ts";
import type { Answer, QueryRequest } from "./protocol.ts";
import { readStatement } from "./statement.ts";
import { Unusable } from "./unusable.ts";

// The thread in which a query process runs its queries.

const port = parentPort;
if (port === null) throw new Error("query-thread.ts is run in a thread");

async function answerOf({ source, sql, limits, modules }: QueryRequest): Promise<Answer> {
  const write = source.engine !== "postgresql" && source.write === true;
  if (sql === undefined) {
    const engine = await engineOf(source, modules);
    return { type: "answered", answer: { kind: "described", tables: await engine.describe() } };
  }
  const read = readStatement(sql, { engine: source.engine, write });
  if (read.refused !== undefined)
    return { type: "answered", answer: { kind: "refused", message: read.refused } };
  const engine = await engineOf(source, modules);
  return { type: "answered", answer: await engine.query(read.statement, { ...limits, write }) };
}

async function engineOf(source: QueryRequest["source"], modules: string) {
  switch (source.engine) {
    case "sqlite":
      return (await import("./sqlite.ts")).sqlite(source.path);
    case "duckdb":
      return (await import("./duckdb.ts")).duckdb(source.path, modules);
    case "postgresql":
      return (await import("./postgresql.ts")).postgresql(source.url, modules);
  }
}

port.on("message", (request: QueryRequest) => {
  answerOf(request).then(
    (message) => port.postMessage(message),
    (error: unknown) => {
      const missing = error instanceof Unusable ? error.missing : undefined;
      port.postMessage(
        defined({ type: "unusable", reason: messageOf(error), missing: missing ? missing : undefined }),
      );
    },
  );
});
