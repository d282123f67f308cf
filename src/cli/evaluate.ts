import type { Command } from "commander";
import { evaluateRun } from "../library/evaluate-run.ts";
import type { RunEvent } from "../library/events.ts";
import { runReference } from "../runs/run-reference.ts";
import { counted, percent } from "../text/format.ts";
import { interruptible } from "./interruptible.ts";
import { positiveCount } from "./option-values.ts";

interface Options {
  runs: string;
  tasks?: string;
  limit?: number;
  tools: boolean;
  toolRecordings?: string;
  policyVersion?: string;
  temporal?: string;
  json: boolean;
}

/** `everturn evaluate <run>`: greedy accuracy of a run's policy on a file of tasks. */
export function registerEvaluate(program: Command): void {
  program
    .command("evaluate")
    .description("measure a run's policy, greedily, on tasks")
    .argument("<run>", "the run's id, or the path of its folder")
    .option("--tasks <file>", "JSON lines of tasks; default: the pipeline's validation set")
    .option("--limit <number>", "only the first tasks", positiveCount)
    .option("--no-tools", "switch the tools off")
    .option("--tool-recordings <run>", "answer tool calls with what this run recorded, and call none")
    .option("--policy-version <number>", "default: the newest")
    .option("--runs <folder>", "where runs are kept", "runs")
    .option("--temporal <path>", "Temporal CLI to start the dev server with")
    .option("--json", "end with one line of JSON on standard output", false)
    .action(evaluate);
}

async function evaluate(named: string, { runs, toolRecordings, json, ...how }: Options): Promise<void> {
  const reference = runReference(named, runs);
  const recordings = toolRecordings === undefined ? undefined : runReference(toolRecordings, runs);
  const note = (text: string) => void process.stderr.write(`${text}\n`);
  const onEvent = (event: RunEvent) => {
    if (event.type === "note") note(event.text);
  };
  const record = await interruptible(
    (signal) => evaluateRun(reference, { ...how, recordings, onEvent, signal }),
    () => note("interrupted"),
  );
  if (record === "interrupted") return;
  const { name, ...result } = record;
  const where = `npx everturn trajectories ${reference.run} --stage ${name}`;
  const line = `accuracy ${percent(record.accuracy)} on ${counted(record.tasks, "task")}, policy version ${record.policyVersion}\n${where}`;
  process.stdout.write(
    `${json ? JSON.stringify({ run: reference.run, ...result, evaluation: name }) : line}\n`,
  );
}
