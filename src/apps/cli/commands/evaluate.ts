import type { Command } from "commander";
import { counted, percent } from "../../../base/text/format.ts";
import type { EvaluationRecord } from "../../../contracts/run.ts";
import { evaluateRun } from "../../../control/operations/evaluate-run.ts";
import type { RunEvent } from "../../../control/operations/events.ts";
import { runReference } from "../../../run/folder/run-reference.ts";
import { nameForCommands } from "../../../run/folder/store-of.ts";
import { interruptible } from "../terminal/interruptible.ts";
import { positiveCount, temperature } from "../terminal/option-values.ts";
import { numbersLines } from "../views/numbers-text.ts";

interface Options {
  runs: string;
  tasks?: string;
  limit?: number;
  tools: boolean;
  toolRecordings?: string;
  policyVersion?: string;
  samples?: number;
  temperature?: number;
  name?: string;
  temporal?: string;
  json: boolean;
}

/** `everturn evaluate <run>`: measures a run's policy on tasks. */
export function registerEvaluate(program: Command): void {
  program
    .command("evaluate")
    .description("evaluate a run's policy on tasks, greedily or with several samples per task")
    .argument("<run>", "id of the run, or path of its folder")
    .option("--tasks <file>", "JSON Lines file with tasks (default: the pipeline's validation set)")
    .option("--limit <number>", "use only the first tasks", positiveCount)
    .option("--no-tools", "disable all tools")
    .option(
      "--tool-recordings <run>",
      "answer tool calls from the recordings of this run instead of calling tools",
    )
    .option(
      "--policy-version <numbers>",
      "version to evaluate, or several such as 0,10,20 (default: the newest)",
    )
    .option("--samples <number>", "trajectories per task, for pass@k and maj@k (default: 1)", positiveCount)
    .option(
      "--temperature <number>",
      "sampling temperature (default: 0, or the run's training temperature with several samples)",
      temperature,
    )
    .option("--name <name>", "name of the evaluation; an existing name continues that evaluation")
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option("--temporal <path>", "Temporal CLI that starts the dev server")
    .option("--json", "print the result as one line of JSON", false)
    .action(evaluate);
}

async function evaluate(named: string, { runs, policyVersion, name, ...options }: Options): Promise<void> {
  const reference = runReference(named, runs);
  const known = await nameForCommands(reference.runs, reference.run);
  const { toolRecordings, json, temporal, ...how } = options;
  const recordings = toolRecordings === undefined ? undefined : runReference(toolRecordings, runs);
  const note = (text: string) => void process.stderr.write(`${text}\n`);
  const onEvent = (event: RunEvent) => {
    if (event.type === "note") note(event.text);
  };
  const versions = policyVersion === undefined ? [undefined] : policyVersion.split(",");
  const asked = versions.map((version) => {
    const ownName = name === undefined || versions.length === 1 ? name : `${name}-v${version}`;
    return { ...how, policyVersion: version, name: ownName, recordings };
  });
  const onRecord = (record: EvaluationRecord) =>
    void process.stdout.write(`${json ? jsonLine(reference.run, record) : textOf(known, record)}\n`);
  await interruptible(
    (signal) => evaluateRun(reference, asked, { temporal, onEvent, onRecord, signal }),
    () => note("interrupted"),
  );
}

function jsonLine(run: string, { name, ...result }: EvaluationRecord): string {
  return JSON.stringify({ run, ...result, evaluation: name });
}

function textOf(run: string, { name, accuracy, tasks, policyVersion, numbers }: EvaluationRecord): string {
  return [
    `accuracy ${percent(accuracy)} on ${counted(tasks, "task")}, policy version ${policyVersion}`,
    ...(numbers === undefined ? [] : numbersLines(numbers)),
    `npx everturn trajectories ${run} --stage ${name}`,
  ].join("\n");
}
