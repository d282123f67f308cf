import { resolve } from "node:path";
import type { Command } from "commander";
import { runSettings } from "../../activities/open-run.ts";
import type { EvaluationInput, EvaluationPlan, EvaluationRecord } from "../contracts/run.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { newestPolicy } from "../runs/newest-policy.ts";
import { openRun } from "../runs/open-runs.ts";
import { openSession } from "../temporal/session.ts";
import { interruption } from "./interruption.ts";

interface Options {
  runs: string;
  tasks?: string;
  limit?: string;
  tools: boolean;
  policyVersion?: string;
  temporal?: string;
  json: boolean;
}

/** `everturn evaluate <run>`: greedy accuracy of a run's policy on a file of tasks. */
export function registerEvaluate(program: Command): void {
  program
    .command("evaluate")
    .description("measure a run's policy, greedily, on tasks")
    .argument("<run>", "the run's id")
    .option("--tasks <file>", "JSON lines of tasks; default: the pipeline's validation set")
    .option("--limit <number>", "only the first tasks")
    .option("--no-tools", "switch the tools off")
    .option("--policy-version <number>", "default: the newest")
    .option("--runs <folder>", "where runs are kept", "runs")
    .option("--temporal <path>", "Temporal CLI to start the dev server with")
    .option("--json", "end with one line of JSON on standard output", false)
    .action(evaluate);
}

async function evaluate(run: string, options: Options): Promise<void> {
  const runs = resolve(options.runs);
  const plan = await evaluationPlan(runs, run, options);
  const interrupted = interruption();
  const session = await openSession({
    runs,
    run,
    temporal: options.temporal,
    queuePrefix: `${run}/${plan.name}/`,
  });
  try {
    const { plan: runPlan } = await openRun(runs, run);
    const input: EvaluationInput = { run, plan, settings: runSettings(runPlan), queues: session.queues };
    const { client, closing } = session;
    const evaluation = client.withAbortSignal(closing, () =>
      client.workflow.execute<(input: EvaluationInput) => Promise<EvaluationRecord>>("evaluation", {
        workflowId: `${run}/${plan.name}`,
        taskQueue: session.queues.orchestration,
        args: [input],
      }),
    );
    const record = await Promise.race([evaluation, session.failed, interrupted.promise]);
    if (record === "interrupted") {
      process.exitCode = 130;
      return;
    }
    const { name, ...result } = record;
    const line = `accuracy ${record.accuracy.toFixed(3)} on ${record.tasks} tasks, policy version ${record.policyVersion}`;
    process.stdout.write(`${options.json ? JSON.stringify({ run, ...result, evaluation: name }) : line}\n`);
  } finally {
    await session.close();
    interrupted.release();
  }
}

async function evaluationPlan(runs: string, run: string, options: Options): Promise<EvaluationPlan> {
  const { folder } = await openRun(runs, run);
  const policyVersion =
    options.policyVersion === undefined ? await newestPolicy(folder) : Number(options.policyVersion);
  if (policyVersion === undefined || !Number.isInteger(policyVersion)) {
    throw new EverturnError("POLICY_NOT_FOUND", { run, version: options.policyVersion ?? "newest" });
  }
  const time = new Date().toISOString().replace(/[-:.]/g, "").slice(0, 18);
  const withoutTools = !options.tools;
  return {
    name: `evaluation-v${String(policyVersion).padStart(4, "0")}${withoutTools ? "-no-tools" : ""}-${time}`,
    step: 0,
    policyVersion,
    withoutTools,
    ...(options.tasks === undefined ? {} : { taskFile: resolve(options.tasks) }),
    ...(options.limit === undefined ? {} : { tasks: Number(options.limit) }),
  };
}
