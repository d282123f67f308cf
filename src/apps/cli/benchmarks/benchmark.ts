import type { Task } from "../../../contracts/generated/task.ts";
import type { JsonObject } from "../../../contracts/json.ts";

/** A row of a benchmark's file, as it was published. */
export type BenchmarkRow = JsonObject;

/** A benchmark whose published files become tasks. */
export interface Benchmark {
  /** What it is, and where its files are from. */
  description: string;
  /** The rewards that read its ground truths. */
  reward: string;
  /** The folder beside a file in which a file of the same name holds what is added to its rows, by their `id`. */
  answers?: string;
  /** The task of a row; undefined if it lacks what is wanted. */
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

/** Values of these keys that a row has, to be kept beside its task. */
export function kept(row: BenchmarkRow, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(row).filter(([key]) => keys.includes(key)));
}
