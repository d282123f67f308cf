import { type DatasetPlugin, parseTasks } from "everturn/plugin";
import { taskOfColumns, withoutPrompt } from "./columns.ts";
import { readRows } from "./read-rows.ts";
import { taskOf } from "./task-of.ts";

/**
 * Tasks of tables: Parquet, CSV and JSON files, and SQL over them (config: `path`, `tables`, `query`, `columns`, `limit`, `badRows`). The same
 * files give the same tasks in the same order. Bad rows are refused with their number, or left out.
 */
const table: DatasetPlugin = {
  async load({ path, tables, query, columns, limit, badRows }) {
    const files = { ...Object(tables), rows: String(path) };
    const rows = await readRows(files, typeof query === "string" ? query : undefined);
    if (columns === undefined && rows.length > 0 && rows.every((row) => row.prompt === undefined))
      throw withoutPrompt(String(path), rows);
    const taken = typeof limit === "number" ? rows.slice(0, limit) : rows;
    const tasks =
      columns === undefined ? taken : taken.map((row) => taskOfColumns(row, Object(columns), String(path)));
    const text = tasks.map((row) => JSON.stringify(taskOf(row))).join("\n");
    return parseTasks(text, String(path), { badRows: badRows === "skip" ? badRows : "refuse" });
  },
};

export default table;
