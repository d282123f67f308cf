import type { Command } from "commander";
import { EverturnError } from "../../../../base/errors/everturn-error.ts";
import { percent } from "../../../../base/text/format.ts";
import { openEvaluation } from "../../../../control/operations/compare.ts";
import { readOutcomes } from "../../../../results/evaluations/outcomes.ts";
import { ratedTasks } from "../../../../results/evaluations/rated-tasks.ts";
import { share } from "../../terminal/option-values.ts";
import { writeOut } from "../../terminal/written-json.ts";

interface Options {
  min: number;
  max: number;
  runs: string;
}

/**
 * `everturn data rated <evaluation>`: prints the tasks of an evaluation by their success rate, one line of JSON
 * each.
 */
export function registerRated(parent: Command): void {
  parent
    .command("rated")
    .description("print the tasks of an evaluation from easiest to hardest, for a curriculum")
    .argument("<evaluation>", "RUN/EVALUATION, or a run for its newest held-out evaluation")
    .option("--min <share>", "only tasks that at least this share of the samples solved", share, 0)
    .option("--max <share>", "only tasks that at most this share of the samples solved", share, 1)
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .action(rated);
}

async function rated(named: string, { min, max, runs }: Options): Promise<void> {
  const { run, record } = await openEvaluation(named, runs);
  const all = ratedTasks((await readOutcomes(run, record)).tasks);
  const kept = all.filter(({ rate }) => rate >= min && rate <= max);
  if (kept.length === 0) {
    const reason = `none of its ${all.length} tasks was solved by ${percent(min)} to ${percent(max)} of its samples`;
    throw new EverturnError("COMMAND_INVALID", { reason });
  }
  for (const { task } of kept) await writeOut(`${JSON.stringify(task)}\n`);
  process.stderr.write(`${kept.length} of ${all.length} tasks, by ${record.samples ?? 1} samples each\n`);
}
