import type { Task } from "../../../contracts/generated/task.ts";
import type { JsonObject } from "../../../contracts/json.ts";

/** A row of a benchmark's file as published. */
export type BenchmarkRow = JsonObject;

/** A benchmark whose published files can be converted to tasks. */
export interface Benchmark {
  /** Describes it, and names the source of its files. */
  description: string;
  /** The rewards that can read its ground truths. */
  reward: string;
  /** The folder next to a file that contains, under the same name, additional columns for its rows, by `id`. */
  answers?: string;
  /** The task of a row; undefined if it lacks a required column. */
  task(row: BenchmarkRow): Task | undefined;
}

/** The first of these keys that a row has as a text or a number. */
export function textOf(row: BenchmarkRow, ...keys: readonly string[]): string | undefined {
  const found = keys.map((key) => row[key]).find((value) => value !== undefined && value !== null);
  return typeof found === "string" || typeof found === "number" ? String(found) : undefined;
}

/** A key's list of texts. */
export function textsOf(row: BenchmarkRow, key: string): string[] | undefined {
  const value = row[key];
  return Array.isArray(value) && value.every((one) => typeof one === "string") ? value : undefined;
}

/** A row's values of these keys, to be kept with its task. */
export function kept(row: BenchmarkRow, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(row).filter(([key]) => keys.includes(key)));
}
