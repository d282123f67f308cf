import type { DuckDBConnection, DuckDBValue } from "@duckdb/node-api";
import { driver } from "../../base/databases/driver.ts";
import { Unusable } from "../../base/databases/unusable.ts";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import type { QueryColumnName } from "../../run/projections/query-columns.ts";
import { reasonOf, wrongCondition } from "./check-condition.ts";
import { loadTrajectories } from "./load-trajectories.ts";
import { queryInvalid, sortTerms } from "./sort-terms.ts";

/** A query of a run's trajectories. */
export interface Query {
  /** A condition in SQL over the columns: `reward < 0 and tool = 'python'`. Default: all trajectories. */
  where?: string | undefined;
  /** Everturn's own conditions, which apply in addition. */
  only?: readonly string[];
  /** Columns, separated by commas, optionally with `asc` or `desc`. Default: by id. */
  sort?: string | undefined;
  /** 0 means all. */
  limit: number;
  skip: number;
}

/** A run's finished trajectories at the time it was opened, for repeated queries. */
export interface QueryTable {
  /** Returns values of these columns, and the total number of matches. Throws QUERY_INVALID. */
  ask(query: Query, columns: readonly QueryColumnName[]): Promise<{ rows: DuckDBValue[][]; total: number }>;
  close(): void;
}

/** How long a query may take, in ms. */
const mostTime = 30_000;

/** Forbids files, the network and external code, then locks these settings. */
const lockedDown = `SET autoload_known_extensions = false; SET allow_community_extensions = false;
SET temp_directory = ''; SET enable_external_access = false; SET lock_configuration = true`;

/** Reads the finished trajectories of a run into DuckDB. Throws QUERY_DRIVER_MISSING. */
export async function openTrajectoryTable(run: Pick<OpenRun, "store">): Promise<QueryTable> {
  const { DuckDBInstance } = await duckdb();
  const instance = await DuckDBInstance.create(":memory:", { threads: "2" });
  const connection = await instance.connect();
  const close = () => {
    connection.closeSync();
    instance.closeSync();
  };
  try {
    await connection.run("SET autoinstall_known_extensions = false; SET memory_limit = '1GiB'");
    await loadTrajectories(connection, run);
    await connection.run(lockedDown);
  } catch (error) {
    close();
    throw error;
  }
  return { ask: (query, columns) => ask(connection, query, columns), close };
}

async function duckdb(): Promise<typeof import("@duckdb/node-api")> {
  try {
    return await driver("@duckdb/node-api", import.meta.url);
  } catch (error) {
    if (error instanceof Unusable && error.missing !== undefined)
      throw new EverturnError("QUERY_DRIVER_MISSING", { missing: error.missing });
    throw error;
  }
}

async function ask(
  connection: DuckDBConnection,
  { where = "true", only = [], sort = "trajectory", limit, skip }: Query,
  columns: readonly QueryColumnName[],
) {
  const wrong = await wrongCondition(connection, where);
  if (wrong !== undefined) throw queryInvalid("condition", where, wrong);
  const matching = `FROM trajectories WHERE ${only.map((one) => `${one} AND `).join("")}(\n${where}\n)`;
  const timer = setTimeout(() => connection.interrupt(), mostTime);
  try {
    const counted = await connection.runAndReadAll(`SELECT count(*) ${matching}`);
    const part = `${limit === 0 ? "" : `LIMIT ${limit}`} OFFSET ${skip}`;
    const read = await connection.runAndReadAll(
      `SELECT ${columns.join(", ")} ${matching} ORDER BY ${order(sort)} ${part}`,
    );
    return { rows: read.getRows(), total: Number(counted.getRows()[0]?.[0]) };
  } catch (error) {
    if (error instanceof EverturnError) throw error;
    const message = messageOf(error);
    const isStopped = message.startsWith("INTERRUPT");
    const reason = isStopped ? `it took longer than ${mostTime / 1000} s and was stopped` : reasonOf(message);
    throw queryInvalid("condition", where, reason);
  } finally {
    clearTimeout(timer);
  }
}

/** The ORDER BY of a sort, with ties by id, so that the order is always the same. */
function order(sort: string): string {
  const terms = sortTerms(sort).map(
    ({ column, isDescending }) => `${column} ${isDescending ? "desc" : "asc"} NULLS LAST`,
  );
  return [...terms, "trajectory"].join(", ");
}
