import { existsSync } from "node:fs";
import { join } from "node:path";
import { EverturnError } from "../errors/everturn-error.ts";
import type { DatabaseSource } from "./outcome.ts";

/** The fields with which a plugin's configuration and a task select a database. */
export interface NamedDatabase {
  /** Default sqlite. */
  engine?: unknown;
  /** A path to a file. */
  database?: unknown;
  /**
   * A folder of databases. The task names one by `extra_info.database`, or by `extra_info.db_id` as Spider and BIRD
   * do.
   */
  folder?: unknown;
  /** For PostgreSQL: the environment variable that contains the URL. */
  urlVariable?: unknown;
}

const endings = { sqlite: [".sqlite", ".db", ".sqlite3"], duckdb: [".duckdb", ".db"] };

/** Returns the database that a plugin's configuration selects for a task. Throws DATABASE_NOT_NAMED. */
export function namedDatabase(
  config: NamedDatabase,
  task: { extra_info?: Record<string, unknown> },
): DatabaseSource {
  const { engine = "sqlite", database, folder, urlVariable } = config;
  if (engine === "postgresql") return { engine, url: urlOf(urlVariable) };
  if (engine !== "sqlite" && engine !== "duckdb") throw notNamed(`“engine” is ${JSON.stringify(engine)}`);
  if (typeof database === "string") return { engine, path: database };
  if (typeof folder !== "string") throw notNamed("it has neither “database” nor “folder”");
  const { database: own, db_id: name = own } = task.extra_info ?? {};
  if (typeof name !== "string")
    throw notNamed("with “folder”, a task names its database by extra_info.database");
  if (!/^[\p{L}\p{N}_-]+$/u.test(name)) throw notNamed(`a task names the database “${name}”`);
  const places = endings[engine].flatMap((ending) => [name + ending, join(name, name + ending)]);
  const path = places.map((place) => join(folder, place)).find((one) => existsSync(one));
  if (path === undefined) throw notNamed(`in “folder” there is none of ${places.join(", ")}`);
  return { engine, path };
}

function urlOf(variable: unknown): string {
  if (typeof variable !== "string")
    throw notNamed("PostgreSQL needs “urlVariable”, the environment variable that has its URL");
  const url = process.env[variable];
  if (url === undefined || url === "") throw notNamed(`the environment variable ${variable} is not set`);
  return url;
}

function notNamed(reason: string): EverturnError {
  return new EverturnError("DATABASE_NOT_NAMED", { reason });
}
