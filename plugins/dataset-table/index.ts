import { type DatasetPlugin, parseTasks } from "everturn/plugin";
import { readRows } from "./read-rows.ts";
import { taskOf } from "./task-of.ts";

/**
 * Tasks of tables: Parquet, CSV and JSON files, and SQL over them (config: `path`, `tables`, `query`, `limit`). The same files give the
 * same tasks in the same order. Bad rows are refused with their number.
 */
const table: DatasetPlugin = {
  async load({ path, tables, query, limit }) {
    const files = { ...Object(tables), rows: String(path) };
    const rows = await readRows(files, typeof query === "string" ? query : undefined);
    const taken = typeof limit === "number" ? rows.slice(0, limit) : rows;
    return parseTasks(taken.map((row) => JSON.stringify(taskOf(row))).join("\n"), String(path));
  },
};

export default table;
