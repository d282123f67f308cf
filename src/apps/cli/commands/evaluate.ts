import type { Command } from "commander";
import { counted, percent } from "../../../base/text/format.ts";
import type { EvaluationRecord } from "../../../contracts/run.ts";
import { evaluateRun } from "../../../control/operations/evaluate-run.ts";
import type { RunEvent } from "../../../control/operations/events.ts";
import { runReference } from "../../../run/folder/run-reference.ts";
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

/** `everturn evaluate <run>`: what a run's policy reaches on tasks. */
export function registerEvaluate(program: Command): void {
  program
    .command("evaluate")
    .description("measure a run's policy on tasks, greedily or by several samples of each")
    .argument("<run>", "the run's id, or the path of its folder")
    .option("--tasks <file>", "JSON lines of tasks; default: the pipeline's validation set")
    .option("--limit <number>", "only the first tasks", positiveCount)
    .option("--no-tools", "switch the tools off")
    .option("--tool-recordings <run>", "answer tool calls with what this run recorded, and call none")
    .option(
      "--policy-version <numbers>",
      "one, or several as 0,10,20, one after the other; default: the newest",
    )
    .option(
      "--samples <number>",
      "trajectories of each task, for pass@k and maj@k; default: 1",
      positiveCount,
    )
    .option(
      "--temperature <number>",
      "default: 0, greedily; with several samples, the one that the run trains with",
      temperature,
    )
    .option("--name <name>", "what it is called; the same name again goes on with it")
    .option("--runs <folder>", "where runs are kept", "runs")
    .option("--temporal <path>", "Temporal CLI to start the dev server with")
    .option("--json", "end with one line of JSON on standard output", false)
    .action(evaluate);
}

async function evaluate(named: string, { runs, policyVersion, name, ...options }: Options): Promise<void> {
  const reference = runReference(named, runs);
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
    void process.stdout.write(`${json ? jsonLine(reference.run, record) : textOf(reference.run, record)}\n`);
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
