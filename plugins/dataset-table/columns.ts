import { basename, extname } from "node:path";
import type { JsonObject, JsonValue } from "everturn/plugin";

/** The columns that make up tasks. */
interface Columns {
  prompt: string;
  groundTruth: string;
  dataSource?: string;
  system?: string;
}

/** Throws Error for a column that no row has. */
export function checkColumns(rows: readonly JsonObject[], columns: Columns, path: string): void {
  const [first] = rows;
  if (first === undefined) return;
  const { prompt, groundTruth, dataSource, system } = columns;
  for (const name of [prompt, groundTruth, dataSource, system])
    if (name !== undefined && !rows.some((row) => Object.hasOwn(row, name)))
      throw new Error(`${path} has no column ${name}. ${known(first)}`);
}

/**
 * Converts a row to a task by its columns. `extra_info` keeps the other columns. The task lacks what the row
 * lacks.
 */
export function taskOfColumns(row: JsonObject, columns: Columns, path: string): JsonObject {
  const { prompt, groundTruth, dataSource, system } = columns;
  const said = (role: string, name: string) => ({ role, content: textOf(row[name]) });
  const used = [prompt, groundTruth, dataSource, system];
  const others = Object.entries(row).filter(([name]) => !used.includes(name));
  return {
    data_source: dataSource === undefined ? basename(path, extname(path)) : textOf(row[dataSource]),
    prompt: [...(system === undefined ? [] : [said("system", system)]), said("user", prompt)],
    reward_model: { ground_truth: textOf(row[groundTruth]) },
    ...(others.length === 0 ? {} : { extra_info: Object.fromEntries(others) }),
  };
}

/** The error for a table whose rows are not tasks, with a remedy. */
export function withoutPrompt(path: string, [row = {}]: readonly JsonObject[]): Error {
  return new Error(
    `the rows of ${path} are not tasks. ${known(row)} Name the columns to use, columns: { prompt: …, groundTruth: … }, or write a query.`,
  );
}

function known(row: JsonObject): string {
  return `Its columns: ${Object.keys(row).join(", ")}.`;
}

/** A missing value stays null, so that it is reported as not being a text. */
function textOf(value: JsonValue | undefined): JsonValue {
  if (value === undefined || value === null || typeof value === "string") return value ?? null;
  return JSON.stringify(value);
}
