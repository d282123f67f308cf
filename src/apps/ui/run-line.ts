import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { isAbsence } from "../../base/errors/system-error.ts";
import { duration, number, percent } from "../../base/text/format.ts";
import type { StepRecord } from "../../contracts/generated/step-record.ts";
import type { Plan } from "../../contracts/plan.ts";
import type { EvaluationRecord } from "../../contracts/run.ts";
import { type Html, html } from "../../results/report/html.ts";
import { firstAndLastEvaluations } from "../../run/folder/evaluations.ts";
import { lastRecordedStep } from "../../run/folder/recorded-steps.ts";
import { readStops } from "../../run/folder/sessions.ts";
import { firstVersion } from "../../run/versions/first-version.ts";
import { runPath } from "./paths.ts";
import { link } from "./table.ts";
import type { ShownRun } from "./ui-context.ts";

/** A run's entry in the list of runs. */
export interface RunLine {
  run: ShownRun;
  step: StepRecord | undefined;
  evaluation: EvaluationRecord | undefined;
  /** Seconds of work from its start to its last recorded step, or until now while it is at work. */
  worked: number | undefined;
}

/** Reads a run's entry in the list of runs. */
export async function readRunLine(run: ShownRun): Promise<RunLine> {
  const step = await lastRecordedStep(run.store);
  const newest = step?.policyVersion ?? firstVersion(run.plan);
  const evaluations = await firstAndLastEvaluations(run, newest);
  return { run, step, evaluation: evaluations.at(-1), worked: await workSeconds(run) };
}

/** The time from a run's start to its newest line in metrics.jsonl, or until now, without the time between sessions. */
async function workSeconds({ isLive, file, folder }: ShownRun): Promise<number | undefined> {
  const began = Date.parse(file.createdAt);
  const ended = isLive ? Date.now() : await lastWritten(folder.metrics);
  if (ended === undefined) return undefined; // before its first step
  const stopped = await readStops(folder);
  return Math.max(0, ended - began - stopped(began, ended)) / 1000;
}

/** When a file was last written, in ms since 1970; undefined if it does not exist. */
async function lastWritten(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (!isAbsence(error)) throw error;
    return undefined;
  }
}

/** Titles of the cells of `runCells`. */
export const runTitles = [
  "run",
  "pipeline",
  "state",
  "model",
  "algorithm",
  "steps",
  "reward",
  "held out",
  "started (UTC)",
  "duration",
];

/** A run in the list. */
export function runCells({ run, step, evaluation, worked }: RunLine): (string | Html)[] {
  return [
    link(runPath(run.id), run.id),
    run.plan.name,
    stateOf(run, step),
    modelOf(run.plan),
    algorithmOf(run.plan),
    `${step?.step ?? 0} of ${run.plan.steps}`,
    step?.rewardMean === undefined ? "–" : number(step.rewardMean),
    evaluation === undefined ? "–" : percent(evaluation.accuracy),
    run.file.createdAt.slice(0, 16).replace("T", " "),
    worked === undefined ? "–" : duration(worked),
  ];
}

/** The model of a policy by its last name; the policy's plugin if its settings name no model. */
function modelOf({ policy: { name, config } }: Plan): string {
  if (typeof config.model === "string") return basename(config.model);
  return config.architecture === undefined ? name : "from random weights";
}

/** The algorithm of the steps; the trainer's plugin if its settings name none. */
function algorithmOf({ sft, dpo, trainer: { name, config } }: Plan): string {
  if (dpo !== undefined) return "dpo";
  if (sft !== undefined) return "sft";
  return typeof config.algorithm === "string" ? config.algorithm : name;
}

/** Whether a run continues, as text. */
export function stateOf(run: ShownRun, step: StepRecord | undefined): Html {
  if (run.isLive) return html`<span class="state live">at work</span>`;
  if ((step?.step ?? 0) >= run.plan.steps) return html`<span class="state">done</span>`;
  const where = run.file.address === undefined ? "stopped" : `on ${run.file.address}`;
  return html`<span class="state">${where}</span>`;
}
