import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { displayPath } from "../../../base/validation/place.ts";
import type { Task } from "../../../contracts/generated/task.ts";
import type { Benchmark, BenchmarkRow } from "./benchmark.ts";
import { readBenchmarkRows } from "./read-benchmark-rows.ts";

/** The tasks of a benchmark's file, and the places of the rows that yield none. */
export interface BenchmarkTasks {
  tasks: Task[];
  bad: string[];
}

/**
 * Creates tasks from the rows of a published file: JSON Lines, JSON, or Parquet. Throws BENCHMARK_FILE_INVALID if it
 * can't be read or yields no task.
 */
export async function benchmarkTasks(
  name: string,
  benchmark: Benchmark,
  path: string,
): Promise<BenchmarkTasks> {
  const file = displayPath(path);
  const rows = await readBenchmarkRows(path);
  const answers = await answersBeside(benchmark, path);
  const tasks: Task[] = [];
  const bad: string[] = [];
  for (const { row, place } of rows) {
    const task = row === undefined ? undefined : benchmark.task({ ...answers.get(row.id), ...row });
    if (task === undefined) bad.push(`${file}:${place}`);
    else tasks.push(task);
  }
  if (tasks.length > 0) return { tasks, bad };
  const reason =
    rows.length === 0
      ? `there is no row in it (${displayPath(dirname(path))})`
      : "none of its rows is one of it";
  throw new EverturnError("BENCHMARK_FILE_INVALID", {
    file,
    benchmark: name,
    reason,
    columns: benchmark.description,
  });
}

/**
 * The additional columns for a file's rows, by their ids, from the file of the same name in the folder `answers`.
 */
async function answersBeside(
  { answers }: Benchmark,
  path: string,
): Promise<ReadonlyMap<unknown, BenchmarkRow>> {
  const beside = answers === undefined ? undefined : join(dirname(path), answers, basename(path));
  if (beside === undefined || !existsSync(beside)) return new Map();
  const rows = await readBenchmarkRows(beside);
  return new Map(rows.flatMap(({ row }) => (row === undefined ? [] : [[row.id, row]])));
}
