import type { Command } from "commander";
import { counted } from "../../../base/text/format.ts";
import { openEvaluation } from "../../../control/operations/compare.ts";
import { evaluationNumbers } from "../../../control/operations/evaluation-numbers.ts";
import { harnessResults } from "../../../results/evaluations/harness-results.ts";
import { writeOut } from "../terminal/written-json.ts";
import { numbersLines } from "../views/numbers-text.ts";
import { writeHarnessFiles } from "./harness-files.ts";

interface Options {
  runs: string;
  lmEval?: string;
  json: boolean;
}

/** `everturn results <evaluation>`: shows an evaluation's measures. It needs no server. */
export function registerResults(program: Command): void {
  program
    .command("results")
    .description("print the results of an evaluation, or write them in the format of lm-evaluation-harness")
    .argument("<evaluation>", "RUN/EVALUATION, or a run for its newest held-out evaluation")
    .option(
      "--lm-eval <folder>",
      "write results and samples to this folder in the format of lm-evaluation-harness",
    )
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option("--json", "print one line of JSON", false)
    .action(results);
}

async function results(named: string, { runs, lmEval, json }: Options): Promise<void> {
  const { run, record } = await openEvaluation(named, runs);
  const { numbers, outcomes } = await evaluationNumbers(run, record);
  if (lmEval !== undefined) {
    const files = await writeHarnessFiles(lmEval, harnessResults(run.id, record, outcomes));
    await writeOut(`${files.join("\n")}\n`);
    return;
  }
  const { name, tasks, policyVersion, samples = 1, temperature = 0 } = record;
  const line = { run: run.id, evaluation: name, policyVersion, tasks, samples, temperature, numbers };
  const text = [
    `${run.id}/${name}: policy version ${policyVersion}, ${counted(tasks, "task")}`,
    ...numbersLines(numbers),
  ];
  await writeOut(`${json ? JSON.stringify(line) : text.join("\n")}\n`);
}
