import type { JsonObject, ToolCreation, ToolPlugin, ToolResponse } from "everturn/plugin";
import { type DatabaseSource, namedDatabase, openDatabases, type QueryOutcome } from "everturn/sql";
import { copyDatabase, copyPlace, makeCopyFolder, packedCopy, removeCopy, unpackCopy } from "./copies.ts";
import { tellRows } from "./tell.ts";

interface OpenDatabase {
  source: DatabaseSource;
  /** The folder of a trajectory's own copy. */
  folder?: string;
}

interface Settings {
  format: "text" | "json";
  limits: { seconds: number; rows: number; memory: number; characters: number };
}

const databases = openDatabases({ modules: import.meta.url });

/** Runs the model's query. A mistake in it, or a limit that it exceeds, becomes an observation. */
const sql: ToolPlugin<OpenDatabase> = {
  create: (creation) => openDatabase(creation, copyDatabase),
  restore: (snapshot, creation) => openDatabase(creation, (_, to) => unpackCopy(snapshot, to)),
  snapshot: ({ source, folder }) =>
    folder === undefined || source.engine === "postgresql" ? new Uint8Array() : packedCopy(source.path),
  release: ({ folder }) => removeCopy(folder),
  reap: removeCopy,
  async execute({ query, describe }, { config, signal }, { source }) {
    const { format, limits } = settingsOf(config);
    if ((query === undefined) === (describe === undefined))
      return { text: "error: give either query or describe.", error: true };
    if (describe !== undefined) {
      const tables = await databases.describe(source, { signal });
      return described(tables, String(describe), limits.characters);
    }
    const { seconds, rows, memory, characters } = limits;
    const bounds = { seconds, rows, memory, bytes: characters * 8 };
    const outcome = await databases.query(source, String(query), { limits: bounds, signal });
    if (outcome.kind.endsWith("limit")) await rollBack(source, signal);
    return answer(outcome, { format, characters });
  },
};

export default sql;

function openDatabase(
  { config, task, hold }: ToolCreation,
  copy: (from: string, to: string) => void,
): OpenDatabase {
  const source = namedDatabase(config, task);
  if (config.write !== true) return { source };
  if (source.engine === "postgresql")
    throw new Error("write: true is for SQLite and DuckDB: PostgreSQL has no copies");
  const { folder, path } = copyPlace();
  hold(folder);
  makeCopyFolder(folder);
  copy(source.path, path);
  return { source: { ...source, path, write: true }, folder };
}

/** Undoes an interrupted change by opening its database again. */
async function rollBack(source: DatabaseSource, signal: AbortSignal): Promise<void> {
  if (source.engine !== "postgresql" && source.write) await databases.query(source, "SELECT 1", { signal });
}

function answer(
  outcome: QueryOutcome,
  telling: { format: "text" | "json"; characters: number },
): ToolResponse {
  if (outcome.kind === "rows") return { text: tellRows(outcome, telling) };
  if (outcome.kind === "changed") {
    const rows = outcome.changes === 1 ? "1 row" : `${outcome.changes} rows`;
    return {
      text: telling.format === "json" ? JSON.stringify({ changed: outcome.changes }) : `(${rows} changed)`,
    };
  }
  return { text: `error: ${outcome.message}`, error: true };
}

function described(tables: readonly string[], name: string, characters: number): ToolResponse {
  const names = tables.map((line) => line.slice(0, line.indexOf("(")));
  const wanted = tables.filter(
    (_, index) => name === "*" || names[index]?.toLowerCase() === name.toLowerCase(),
  );
  if (wanted.length === 0 && name !== "*")
    return { text: `error: there is no table “${name}”. Tables: ${names.join(", ")}.`, error: true };
  const text = wanted.join("\n");
  if (text.length <= characters) return { text: text === "" ? "(there are no tables)" : text };
  if (wanted.length === 1) return { text: `${text.slice(0, characters)}…` };
  const list = names.join(", ").slice(0, characters);
  return { text: `Too many columns to tell all. Ask for one of the tables: ${list}` };
}

function settingsOf(config: JsonObject): Settings {
  const { limits } = config;
  const given = typeof limits === "object" && limits !== null && !Array.isArray(limits) ? limits : {};
  const { seconds = 5, rows = 50, memory = 512, characters = 4000 } = given;
  return {
    format: config.format === "json" ? "json" : "text",
    limits: {
      seconds: Number(seconds),
      rows: Number(rows),
      memory: Number(memory),
      characters: Number(characters),
    },
  };
}
