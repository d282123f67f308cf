import { Argument, type Command } from "commander";
import { EverturnError } from "../../../../base/errors/everturn-error.ts";
import { counted } from "../../../../base/text/format.ts";
import { benchmarkTasks } from "../../benchmarks/benchmark-tasks.ts";
import { benchmarks } from "../../benchmarks/benchmarks.ts";
import { positiveCount } from "../../terminal/option-values.ts";
import { writeOut } from "../../terminal/written-json.ts";

/** The most places to report of rows that yield no task. */
const most = 20;

/**
 * `everturn data tasks <benchmark> <file>`: prints the tasks of a benchmark's published file, one line of JSON each.
 */
export function registerTasks(parent: Command): void {
  const known = Object.entries(benchmarks).map(([name, { description }]) => `  ${name}: ${description}`);
  parent
    .command("tasks")
    .description("convert a benchmark's published file into tasks, for evaluate --tasks or a data set")
    .addArgument(new Argument("<benchmark>", "name of the benchmark").choices(Object.keys(benchmarks)))
    .argument("<file>", "the published file: JSON Lines, JSON or Parquet")
    .option("--limit <number>", "use only the first tasks", positiveCount)
    .option("--skip-bad", "skip rows that do not contain a task instead of rejecting the file", false)
    .addHelpText("after", `\nBenchmarks:\n${known.join("\n")}`)
    .action(printTasks);
}

async function printTasks(
  name: string,
  file: string,
  { limit, skipBad }: { limit?: number; skipBad: boolean },
): Promise<void> {
  const benchmark = benchmarks[name];
  if (benchmark === undefined) throw new Error(`There is no benchmark ${name}.`);
  const { tasks, bad } = await benchmarkTasks(name, benchmark, file);
  const places = bad.length > most ? [...bad.slice(0, most), `${bad.length - most} more`] : bad;
  if (bad.length > 0 && !skipBad)
    throw new EverturnError("BENCHMARK_ROWS_INVALID", {
      places: places.join(", "),
      benchmark: name,
      columns: benchmark.description,
    });
  for (const task of tasks.slice(0, limit)) await writeOut(`${JSON.stringify(task)}\n`);
  const left = bad.length === 0 ? "" : `; ${counted(bad.length, "row")} left out: ${places.join(", ")}`;
  process.stderr.write(
    `${counted(Math.min(tasks.length, limit ?? tasks.length), "task")}, scored by ${benchmark.reward}${left}\n`,
  );
}
