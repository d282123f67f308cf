import { type DatasetPlugin, type JsonObject, parseTasks } from "everturn/plugin";
import { checkColumns, taskOfColumns, withoutPrompt } from "./columns.ts";
import type { Row } from "./json-rows.ts";
import { readRows } from "./read-rows.ts";
import { taskOf } from "./task-of.ts";

/**
 * Reads tasks from tables: Parquet, CSV and JSON files, and SQL over them (config: `path`, `tables`, `query`,
 * `columns`, `limit`, `badRows`). The same files give the same tasks in the same order. Bad rows are refused
 * with their number, or left out.
 */
const table: DatasetPlugin = {
  async load({ path, tables, query, columns, limit, badRows }) {
    const files = { ...Object(tables), rows: String(path) };
    const used: unknown[] = columns === undefined ? [] : Object.values(Object(columns));
    const skips = badRows === "skip";
    const { rows, unreadable } = await readRows(files, {
      query: typeof query === "string" ? query : undefined,
      asText: used.map(String),
      skips,
    });
    const objects = rows.map(({ row }) => row).filter((row) => row !== undefined);
    if (columns === undefined && objects.length > 0 && objects.every((row) => row.prompt === undefined))
      throw withoutPrompt(String(path), objects);
    if (columns !== undefined) checkColumns(objects, Object(columns), String(path));
    const taken = typeof limit === "number" ? rows.slice(0, limit) : rows;
    const taskOfRow = (row: JsonObject) =>
      taskOf(columns === undefined ? row : taskOfColumns(row, Object(columns), String(path)));
    const line = (one: Row) => (one.row === undefined ? one.text : JSON.stringify(taskOfRow(one.row)));
    return parseTasks(taken.map(line).join("\n"), String(path), {
      badRows: skips ? "skip" : "refuse",
      unreadable,
    });
  },
};

export default table;
