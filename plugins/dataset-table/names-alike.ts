import type { DuckDBConnection } from "@duckdb/node-api";
import type { JsonValue } from "everturn/plugin";

/** Two names in one object that are equal or differ only by case. */
export type AlikeNames = readonly [string, string];

/** Returns the first two names of a list that DuckDB treats as equal. */
export function namesAlike(names: readonly string[]): AlikeNames | undefined {
  const seen = new Map<string, string>();
  for (const name of names) {
    const other = seen.get(name.toLowerCase());
    if (other !== undefined) return [other, name];
    seen.set(name.toLowerCase(), name);
  }
  return undefined;
}

/** Checks the keys of a value's objects, at any depth. */
export function keysAlike(value: JsonValue): AlikeNames | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const own = Array.isArray(value) ? undefined : namesAlike(Object.keys(value));
  return own ?? first(Object.values(value).map(keysAlike));
}

/** Checks a Parquet file's columns and their fields. */
export async function fieldsAlike(
  connection: DuckDBConnection,
  file: string,
): Promise<AlikeNames | undefined> {
  const read = await connection.runAndReadAll("SELECT name, num_children FROM parquet_schema($1)", [file]);
  const fields = read
    .getRows()
    .map(([name, children]) => ({ name: String(name), children: Number(children) }));
  let next = 0;
  const walk = (): AlikeNames | undefined => {
    const { children = 0 } = fields[next++] ?? {};
    const names: string[] = [];
    const inside: (AlikeNames | undefined)[] = [];
    for (let child = 0; child < children; child++) {
      names.push(fields[next]?.name ?? "");
      inside.push(walk());
    }
    return namesAlike(names) ?? first(inside);
  };
  return walk();
}

/** Checks the header of a CSV file. */
export async function headersAlike(
  connection: DuckDBConnection,
  file: string,
): Promise<AlikeNames | undefined> {
  // With null_padding, DuckDB reads multi-line texts only on one thread.
  const options = "all_varchar = true, header = false, null_padding = true, parallel = false";
  const sql = `SELECT * FROM read_csv($1, ${options}) LIMIT 1`;
  const read = await connection.runAndReadAll(sql, [file]);
  const names = (read.getRows()[0] ?? []).map((name) => (name === null ? "" : String(name)));
  return namesAlike(names.filter((name) => name !== ""));
}

function first<Found>(list: readonly (Found | undefined)[]): Found | undefined {
  return list.find((one) => one !== undefined);
}
