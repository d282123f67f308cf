import { driver } from "../../../base/databases/driver.ts";
import { Unusable } from "../../../base/databases/unusable.ts";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { messageOf } from "../../../base/errors/message-of.ts";
import { parseExactJson } from "../../../base/json/exact-json.ts";
import { displayPath } from "../../../base/validation/place.ts";
import { readText } from "../../../base/validation/read-text.ts";
import { isObject } from "../../../contracts/json.ts";
import type { BenchmarkRow } from "./benchmark.ts";

/** A row with its line, or its number; undefined if it is not an object. */
interface PlacedRow {
  row: BenchmarkRow | undefined;
  place: number;
}

/**
 * Reads the rows of a JSON list, of JSON Lines, or of Parquet (which needs @duckdb/node-api). Throws FILE_UNREADABLE
 * and similar errors, and BENCHMARK_FILE_INVALID.
 */
export async function readBenchmarkRows(path: string): Promise<PlacedRow[]> {
  if (/\.parquet$/i.test(path)) return parquetRows(path);
  const text = readText(path).replace(/^\uFEFF/, "");
  if (text.trimStart().startsWith("[")) return listed(parsed(text));
  return text
    .split("\n")
    .map((line, index) => ({ line, place: index + 1 }))
    .filter(({ line }) => line.trim() !== "")
    .map(({ line, place }) => ({ row: objectOf(parsed(line)), place }));
}

function listed(list: unknown): PlacedRow[] {
  return Array.isArray(list) ? list.map((row, index) => ({ row: objectOf(row), place: index + 1 })) : [];
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined; // reported with its line, as a row that yields no task
  }
}

function objectOf(value: unknown): BenchmarkRow | undefined {
  return isObject(value) ? value : undefined;
}

async function parquetRows(path: string): Promise<PlacedRow[]> {
  try {
    const { DuckDBInstance } = await driver<typeof import("@duckdb/node-api")>(
      "@duckdb/node-api",
      import.meta.url,
    );
    const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
    const connection = await instance.connect();
    const read = await connection.runAndReadAll(
      "SELECT CAST(to_json(one) AS VARCHAR) FROM read_parquet($1) AS one",
      [path],
    );
    const rows = listed(read.getRows().map(([line]) => parsed(String(line))));
    connection.closeSync();
    instance.closeSync();
    return rows;
  } catch (error) {
    if (error instanceof Unusable && error.missing !== undefined)
      throw new EverturnError("QUERY_DRIVER_MISSING", { missing: error.missing });
    throw new EverturnError("BENCHMARK_FILE_INVALID", {
      file: displayPath(path),
      benchmark: "Parquet",
      reason: messageOf(error),
      columns: "rows",
    });
  }
}
