import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import type { EvaluationPlan } from "../../contracts/run.ts";
import { evaluationStage } from "../../contracts/stages.ts";
import { readTaskFile } from "../../plan/tasks/task-file.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import type { RunReference } from "../../run/folder/run-reference.ts";
import { evaluationPlanKey } from "../../run/store/keys.ts";
import { hasVersion, newestVersion } from "../../run/versions/newest-version.ts";

/** How to evaluate a policy. */
export interface AskedEvaluation {
  /** A JSON Lines file of tasks. Default: the pipeline's validation set. */
  tasks?: string | undefined;
  /** Use only the first n tasks. */
  limit?: number | undefined;
  /** False switches the tools off. */
  tools?: boolean | undefined;
  /** The run whose recorded answers replace tool calls. */
  recordings?: RunReference | undefined;
  /** Default: the newest. */
  policyVersion?: number | string | undefined;
  /** Trajectories per task. Default: 1. */
  samples?: number | undefined;
  /** Default: 0 (greedy), or the training temperature if there are several samples. */
  temperature?: number | undefined;
  /**
   * Its name. Default: from policy version and time. Using a name again continues that evaluation, or returns its
   * record.
   */
  name?: string | undefined;
}

/**
 * The plan of an evaluation, on the queues of a prefix or its own. An evaluation that has begun under its name
 * continues unchanged on its queues. Throws POLICY_NOT_FOUND, EVALUATION_NAME_INVALID, EVALUATION_SAMPLES_ALIKE,
 * EVALUATION_DIFFERS, and problems of the file of tasks.
 */
export async function evaluationPlan(
  run: OpenRun,
  options: AskedEvaluation,
  queuePrefix?: string,
): Promise<EvaluationPlan> {
  const { tasks, limit, tools = true, samples = 1, recordings } = options;
  const name = options.name === undefined ? undefined : stageNamed(options.name);
  const begun = name === undefined ? undefined : await run.store.read(evaluationPlanKey(name));
  const policyVersion = await versionAsked(run, options.policyVersion, begun?.policyVersion);
  const temperature = options.temperature ?? (samples > 1 ? run.plan.rollout.temperature : 0);
  if (samples > 1 && temperature === 0) throw new EverturnError("EVALUATION_SAMPLES_ALIKE", { samples });
  const prefix = begun === undefined ? queuePrefix : begun.queuePrefix;
  const plan: EvaluationPlan = defined({
    name: name ?? namedByTime(policyVersion, tools),
    step: 0,
    policyVersion,
    withoutTools: !tools,
    samples,
    temperature,
    taskFile: tasks === undefined ? undefined : resolve(tasks),
    taskFileSha256: tasks === undefined ? undefined : await digestOf(tasks),
    tasks: limit,
    toolRecordings: recordings?.run,
    queuePrefix: prefix,
  });
  const differences = begun === undefined ? [] : differencesOf(begun, plan);
  if (differences.length === 0) return plan;
  throw new EverturnError("EVALUATION_DIFFERS", {
    evaluation: plan.name,
    differences: differences.join(", "),
  });
}

async function versionAsked(
  run: OpenRun,
  asked: AskedEvaluation["policyVersion"],
  begun: number | undefined,
): Promise<number> {
  const version =
    asked === undefined ? (begun ?? (await newestVersion(run))) : Number(asked === "" ? Number.NaN : asked);
  if (version !== undefined && (await hasVersion(run, version))) return version;
  throw new EverturnError("POLICY_NOT_FOUND", { run: run.id, version: asked ?? begun ?? "newest" });
}

/** The stage of an evaluation that a person named. */
function stageNamed(asked: string): string {
  const name = asked.replace(/^evaluation-/, "");
  if (!/^[a-zA-Z0-9][\w.-]{0,59}$/.test(name) || /^v\d+$/.test(name)) {
    throw new EverturnError("EVALUATION_NAME_INVALID", { name: JSON.stringify(asked) });
  }
  return `evaluation-${name}`;
}

function namedByTime(policyVersion: number, tools: boolean): string {
  const time = new Date().toISOString().replace(/[-:.]/g, "").slice(0, 18);
  return `${evaluationStage(policyVersion)}${tools ? "" : "-no-tools"}-${time}`;
}

async function digestOf(file: string): Promise<string> {
  const tasks = await readTaskFile(file);
  return createHash("sha256").update(JSON.stringify(tasks)).digest("hex");
}

const words: [keyof EvaluationPlan, string][] = [
  ["policyVersion", "policy version"],
  ["samples", "samples"],
  ["temperature", "temperature"],
  ["tasks", "limit"],
  ["taskFileSha256", "SHA-256 of the tasks"],
  ["withoutTools", "without tools"],
  ["toolRecordings", "tool recordings"],
];

function differencesOf(begun: EvaluationPlan, asked: EvaluationPlan): string[] {
  return words
    .filter(([key]) => begun[key] !== asked[key])
    .map(([key, word]) => `${word} ${begun[key] ?? "none"}, now ${asked[key] ?? "none"}`);
}
