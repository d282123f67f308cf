import { number, percent } from "../../base/text/format.ts";
import type { StepRecord } from "../../contracts/generated/step-record.ts";
import type { EvaluationRecord } from "../../contracts/run.ts";
import { type Html, html } from "../../results/report/html.ts";
import { firstAndLastEvaluations } from "../../run/folder/evaluations.ts";
import { lastRecordedStep } from "../../run/folder/recorded-steps.ts";
import { firstVersion } from "../../run/versions/first-version.ts";
import { runPath } from "./paths.ts";
import { link } from "./table.ts";
import type { ShownRun } from "./ui-context.ts";

/** A run's entry in the list of runs. */
export interface RunLine {
  run: ShownRun;
  step: StepRecord | undefined;
  evaluation: EvaluationRecord | undefined;
}

/** Reads a run's entry in the list of runs. */
export async function readRunLine(run: ShownRun): Promise<RunLine> {
  const step = await lastRecordedStep(run.store);
  const newest = step?.policyVersion ?? firstVersion(run.plan);
  const evaluations = await firstAndLastEvaluations(run, newest);
  return { run, step, evaluation: evaluations.at(-1) };
}

/** Titles of the cells of `runCells`. */
export const runTitles = ["run", "pipeline", "state", "steps", "reward", "held out", "started"];

/** A run in the list. */
export function runCells({ run, step, evaluation }: RunLine): (string | Html)[] {
  return [
    link(runPath(run.id), run.id),
    run.plan.name,
    stateOf(run, step),
    `${step?.step ?? 0} of ${run.plan.steps}`,
    step?.rewardMean === undefined ? "–" : number(step.rewardMean),
    evaluation === undefined ? "–" : percent(evaluation.accuracy),
    run.file.createdAt.slice(0, 16).replace("T", " "),
  ];
}

/** Whether a run continues, as text. */
export function stateOf(run: ShownRun, step: StepRecord | undefined): Html {
  if (run.isLive) return html`<span class="state live">at work</span>`;
  if ((step?.step ?? 0) >= run.plan.steps) return html`<span class="state">done</span>`;
  const where = run.file.address === undefined ? "stopped" : `on ${run.file.address}`;
  return html`<span class="state">${where}</span>`;
}
