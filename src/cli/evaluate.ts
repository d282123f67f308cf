import { resolve } from "node:path";
import type { Command } from "commander";
import { runSettings } from "../../activities/open-run.ts";
import type { Plan } from "../contracts/plan.ts";
import type { EvaluationInput, EvaluationPlan, EvaluationRecord } from "../contracts/run.ts";
import type { RunSettings } from "../contracts/run-settings.ts";
import { evaluationStage } from "../contracts/stages.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { policyFraming, preflight } from "../pipeline/preflight.ts";
import { type OpenRun, openRun } from "../runs/open-runs.ts";
import { inPart } from "../store/tree-part.ts";
import type { RunSession } from "../supervision/session.ts";
import { workflowResult } from "../supervision/workflow-result.ts";
import { readTaskFile } from "../tasks/task-file.ts";
import { displayPath } from "../validation/place.ts";
import { refusal } from "../validation/problem.ts";
import { hasVersion, newestVersion } from "../versions/newest-version.ts";
import { policyPart } from "../versions/version-parts.ts";
import { positiveCount } from "./option-values.ts";
import { runReference } from "./run-reference.ts";
import { terminate } from "./terminate.ts";
import { withSession } from "./with-session.ts";

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

async function evaluate(named: string, options: Options): Promise<void> {
  const { runs, run } = runReference(named, options.runs);
  const opened = await openRun(runs, run);
  const plan = await evaluationPlan(opened, options);
  await refuseTasks(opened, plan);
  const settings = runSettings(await withRecordings(opened.plan, options));
  const workflowId = `${run}/${plan.name}`;
  const record = await withSession(
    {
      ...{ runs, run, temporal: options.temporal, queuePrefix: `${workflowId}/` },
      note: (text) => void process.stderr.write(`${text}\n`),
    },
    (session) => evaluateIn(session, settings, plan, workflowId),
    {
      onInterrupt: (session) => terminate(session, [workflowId]),
      farewell: () => void process.stderr.write("interrupted\n"),
    },
  );
  if (record === "interrupted") return;
  const { name, ...result } = record;
  const line = `accuracy ${record.accuracy.toFixed(3)} on ${record.tasks} tasks, policy version ${record.policyVersion}`;
  process.stdout.write(`${options.json ? JSON.stringify({ run, ...result, evaluation: name }) : line}\n`);
}

async function evaluateIn(
  session: RunSession,
  settings: RunSettings,
  plan: EvaluationPlan,
  workflowId: string,
): Promise<EvaluationRecord> {
  const { client, queues, run } = session;
  const input: EvaluationInput = { run, plan, settings, queues };
  const handle = await client.workflow.start("evaluation", {
    workflowId,
    taskQueue: queues.orchestration,
    args: [input],
  });
  const failed = (reason: string) =>
    new EverturnError("EVALUATION_FAILED", { evaluation: workflowId, reason });
  return workflowResult(session, handle, failed);
}

/** Throws what is wrong with the file, and WRONG_CONFIGURATION where its tasks leave no room for an action. */
async function refuseTasks(
  { plan, store }: OpenRun,
  { taskFile: file, withoutTools = false }: EvaluationPlan,
): Promise<void> {
  if (file === undefined) return;
  const taskFile = await readTaskFile(file);
  const tools = withoutTools ? [] : plan.tools;
  const framing = await inPart(store, policyPart(plan, 0), (folder) => policyFraming(plan.policy, folder));
  const { problems } = preflight({ ...plan, tools }, { taskFile }, framing);
  if (problems.length > 0) throw refusal(displayPath(file), problems);
}

/** The run's plan, its tools answered from another run. Throws RUN_NOT_FOUND. */
async function withRecordings(plan: Plan, { toolRecordings, ...options }: Options): Promise<Plan> {
  if (toolRecordings === undefined) return plan;
  const { runs, run } = runReference(toolRecordings, options.runs);
  const { folder } = await openRun(runs, run);
  return { ...plan, rollout: { ...plan.rollout, toolRecordings: folder.root } };
}

async function evaluationPlan(run: OpenRun, options: Options): Promise<EvaluationPlan> {
  const { tasks, limit, tools } = options;
  const asked = options.policyVersion;
  const policyVersion = asked === undefined ? await newestVersion(run) : Number(asked || Number.NaN);
  if (policyVersion === undefined || !(await hasVersion(run, policyVersion))) {
    throw new EverturnError("POLICY_NOT_FOUND", { run: run.id, version: asked ?? "newest" });
  }
  const time = new Date().toISOString().replace(/[-:.]/g, "").slice(0, 18);
  return {
    name: `${evaluationStage(policyVersion)}${tools ? "" : "-no-tools"}-${time}`,
    step: 0,
    policyVersion,
    withoutTools: !tools,
    ...(tasks === undefined ? {} : { taskFile: resolve(tasks) }),
    ...(limit === undefined ? {} : { tasks: limit }),
  };
}
