// npm run postgresql: queries that a hostile model could write, against a real PostgreSQL server (Debian's package postgresql), which is
// started on loopback as another user and removed again. Each is asked by a role that may only read and by the server's superuser.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabases, type QueryOutcome } from "everturn/sql";
import pg from "pg";
import { startPostgresql } from "./postgresql-server.ts";

type Kind = QueryOutcome["kind"];
const seconds = 2;

/** A query, and what the model may be told of it; of a role that may only read another thing, where the server refuses more to it. */
const queries: [string, Kind[], Kind[]?][] = [
  ["SELECT count(*) FROM t", ["rows"]],
  ["SELECT pg_sleep(600)", ["time-limit"]],
  ["SELECT n, pg_sleep(0.3) FROM t", ["time-limit"]],
  ["SELECT count(*) FROM generate_series(1, 1e12::bigint)", ["time-limit"]],
  ["SELECT * FROM generate_series(1, 1e12::bigint)", ["rows", "time-limit"]],
  ["SELECT count(*) FROM t a, t b, t c, t d, t e", ["time-limit"]],
  ["WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r", ["time-limit"]],
  ["SELECT repeat('x', 900000000)", ["memory-limit", "rows", "time-limit"]],
  ["SELECT repeat('x', 30000000) FROM t", ["memory-limit", "rows", "time-limit"]],
  ["SELECT string_agg(repeat('x', 1000000), '') FROM t", ["memory-limit", "failed", "rows", "time-limit"]],
  ["SELECT regexp_replace(repeat('a', 30000), '(a*)*(a*)*b', '')", ["time-limit", "failed", "rows"]],
  ["SELECT 10::numeric ^ 100000", ["rows", "time-limit", "failed"]],
  ["COPY t TO PROGRAM 'touch PLACE'", ["refused"]],
  ["COPY (SELECT 1) TO 'PLACE'", ["refused"]],
  ["SELECT pg_read_file('/etc/passwd')", ["refused"]],
  [`SELECT pg_catalog."pg_read_file"('/etc/passwd')`, ["refused"]],
  ["SELECT pg_ls_dir('/')", ["refused"]],
  ["SELECT lo_export(1, 'PLACE')", ["refused"]],
  ["SELECT lo_import('/etc/passwd')", ["refused"]],
  ["SELECT pg_file_write('PLACE', 'x', false)", ["refused"]],
  ["SET statement_timeout = 0", ["refused"]],
  ["SELECT set_config('statement_timeout', '0', false)", ["refused"]],
  [
    "SELECT * FROM ts_stat('SELECT to_tsvector(set_' || 'config(''statement_timeout'', ''0'', false))')",
    ["refused"],
  ],
  ["SELECT ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, ''b''::tsquery')", ["refused"]],
  ["SELECT query_to_xml('SELECT 1', true, true, '')", ["refused"]],
  ["SELECT * FROM crosstab('SELECT 1, 2, 3') AS c(a int, b int)", ["refused"]],
  ["SELECT * FROM dblink('dbname=other', 'SELECT 1') AS d(a int)", ["refused"]],
  ["SELECT * FROM other.public.secret", ["failed"]],
  ["\\c other", ["refused"]],
  ["SELECT pg_terminate_backend(pid) FROM pg_stat_activity", ["refused"]],
  ["SELECT pg_reload_conf()", ["refused"]],
  ["SELECT pg_switch_wal()", ["refused"]],
  ["SELECT pg_create_restore_point('x')", ["refused"]],
  ["SELECT pg_create_physical_replication_slot('hostile')", ["refused"]],
  ["SELECT pg_promote()", ["refused"]],
  ["SELECT pg_stat_reset()", ["refused"]],
  ["SELECT pg_stat_reset_shared('bgwriter')", ["refused"]],
  ["SELECT pg_advisory_lock(1)", ["refused"]],
  ["SELECT pg_stat_reset /* a */ -- b\n ()", ["refused"]],
  [`SELECT * FROM "pg_catalog" . "pg_ls_dir" ('/')`, ["refused"]],
  ["SELECT pg_typeof(1), pg_size_pretty(5::bigint), 'pg_read_file(1)'", ["rows"]],
  ["SELECT pg_try_advisory_lock(1)", ["refused"]],
  ["SELECT pg_logical_emit_message(false, 'a', 'b')", ["refused"]],
  ["SELECT pg_log_backend_memory_contexts(pg_backend_pid())", ["refused"]],
  ["SELECT pg_import_system_collations('public')", ["refused"]],
  ["SELECT brin_summarize_new_values('t')", ["refused"]],
  ["SELECT nextval('s')", ["refused"]],
  ["SELECT setval('s', 5)", ["refused"]],
  ["SELECT * FROM t FOR UPDATE", ["refused", "failed"]],
  ["SELECT * INTO copied FROM t", ["refused", "failed"]],
  ["WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone", ["refused", "failed"]],
  ["SELECT harm()", ["refused", "failed"]],
  ["SELECT 1; DROP TABLE t", ["refused"]],
  ["SELECT 1) TO PROGRAM 'touch PLACE'; --", ["refused", "failed"]],
  ["DO $$ BEGIN PERFORM pg_sleep(600); END $$", ["refused"]],
  ["EXPLAIN ANALYZE SELECT pg_sleep(600)", ["refused"]],
  ["EXPLAIN (ANALYZE) SELECT pg_sleep(600)", ["refused"]],
  ["SELECT rolpassword FROM pg_authid", ["rows"], ["refused"]],
  ["LISTEN hostile", ["refused"]],
  ["PREPARE TRANSACTION 'x'", ["refused"]],
  ["LOCK TABLE t", ["refused"]],
  ["SHOW data_directory", ["refused"]],
];

const server = await startPostgresql(["fsync=off", "log_min_messages=panic"]);
const { urlOf } = server;
const place = join(server.folder, "harmed");
const wrong: string[] = [];
const databases = openDatabases({ modules: import.meta.url });
try {
  const admin = new pg.Client({ connectionString: urlOf("postgres") });
  await admin.connect();
  await admin.query("CREATE DATABASE other");
  await admin.query("CREATE TABLE t AS SELECT n FROM generate_series(1, 1000) n; CREATE SEQUENCE s");
  await admin.query(
    "CREATE FUNCTION harm() RETURNS int LANGUAGE plpgsql AS 'BEGIN DELETE FROM t; RETURN 1; END'",
  );
  await admin.query(
    "CREATE ROLE reader LOGIN; GRANT SELECT ON t TO reader; GRANT USAGE ON SEQUENCE s TO reader",
  );
  for (const role of ["reader", "postgres"]) {
    for (const [text, told, ofReader = told] of queries) {
      const sql = text.replaceAll("PLACE", place);
      const began = performance.now();
      const outcome = await databases
        .query({ engine: "postgresql", url: urlOf(role) }, sql, {
          limits: { seconds, rows: 1000, memory: 400 },
        })
        .catch((error: unknown) => ({ kind: `thrown: ${error}`, message: "" }));
      const took = (performance.now() - began) / 1000;
      const may: string[] = role === "reader" ? ofReader : told;
      const note = "message" in outcome ? outcome.message.slice(0, 80) : "";
      if (!may.includes(outcome.kind)) wrong.push(`${role}: ${text}: ${outcome.kind} ${note}`);
      if (took > seconds + 20) wrong.push(`${role}: ${text}: took ${took.toFixed(0)} s`);
    }
  }
  const others =
    "SELECT query FROM pg_stat_activity WHERE state <> 'idle' AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
  let left = (await admin.query<{ query: string }>(others)).rows;
  for (let waited = 0; left.length > 0 && waited < 20; waited++) {
    await sleep(500);
    left = (await admin.query<{ query: string }>(others)).rows;
  }
  for (const { query } of left) wrong.push(`still running after 10 s: ${query}`);
  const { rows } = await admin.query("SELECT count(*)::int AS many FROM t");
  if (rows[0].many !== 1000) wrong.push(`the table has ${rows[0].many} rows`);
  const { rowCount } = await admin.query("SELECT 1 FROM pg_replication_slots");
  if (rowCount !== 0) wrong.push("there is a replication slot");
  if (existsSync(place)) wrong.push("a file was written");
  await admin.end();
} finally {
  databases.close();
  await server.stop();
}
process.stdout.write(`${queries.length} queries by two roles, ${wrong.length} not held\n`);
for (const line of wrong) process.stdout.write(`  ${line}\n`);
process.exit(wrong.length > 0 ? 1 : 0);
