import { duration, grouped, number, percent } from "../../../base/text/format.ts";
import type { StepRecord } from "../../../contracts/generated/step-record.ts";
import type { EvaluationRecord } from "../../../contracts/run.ts";
import { type Html, html, nothing } from "../html.ts";
import { table } from "../table.ts";

const lastSteps = 12;

/** A column. It is left out if no row has a cell in it. */
type Column<Row> = readonly [title: string, cell: (row: Row) => string | Html | undefined];

const stepColumns: Column<StepRecord>[] = [
  ["step", (row) => String(row.step)],
  ["version", (row) => String(row.policyVersion)],
  ["epoch", (row) => optional(row.epoch)],
  ["loss", (row) => optional(row.loss)],
  ["held-out loss", (row) => optional(row.heldOutLoss)],
  ["ahead", (row) => optional(row.accuracy, percent)],
  ["held out ahead", (row) => optional(row.heldOutAccuracy, percent)],
  ["margin", (row) => optional(row.margin)],
  ["reward", (row) => optional(row.rewardMean, (reward) => reward.toFixed(3))],
  ["success", (row) => optional(row.successRate, percent)],
  ["tool calls", (row) => optional(row.toolCallRate, percent)],
  ["valid", (row) => optional(row.validCallRate, percent)],
  ["unreadable", (row) => optional(row.unreadableCallRate, percent)],
  ["cut actions", (row) => optional(row.cutActionShare, percent)],
  ["spread in groups", (row) => optional(row.rewardSpreadWithin)],
  ["spread between", (row) => optional(row.rewardSpreadBetween)],
  ["uniform groups", (row) => optional(row.uniformGroupShare, percent)],
  ["all 0", (row) => optional(row.zeroGroupShare, percent)],
  ["all 1", (row) => optional(row.oneGroupShare, percent)],
  ["KL", (row) => optional(row.kl)],
  ["entropy", (row) => optional(row.entropy)],
  ["clipped", (row) => optional(row.clipFraction, percent)],
  ["value loss", (row) => optional(row.valueLoss)],
  ["gradient", (row) => number(row.gradientNorm)],
  ["learning rate", (row) => number(row.learningRate)],
  ["log-prob. gap", (row) => optional(row.logprobGap)],
  ["action tokens", (row) => grouped(row.tokens.action)],
  ["staleness", (row) => staleness(row)],
  ["left out", (row) => String(row.leftOut)],
  ["time", (row) => duration(row.seconds.total)],
];

const evaluationColumns: Column<EvaluationRecord>[] = [
  ["evaluation", (row) => row.name],
  ["version", (row) => String(row.policyVersion)],
  ["accuracy", (row) => percent(row.accuracy)],
  ["reward", (row) => optional(row.rewardMean, (reward) => reward.toFixed(3))],
  ["tasks", (row) => grouped(row.tasks)],
  ["left out", (row) => String(row.leftOut)],
  ["tool calls", (row) => percent(row.toolCallRate)],
  ["unreadable", (row) => optional(row.unreadableCallRate, percent)],
  ["cut actions", (row) => optional(row.cutActionShare, percent)],
  ["action tokens", (row) => number(row.meanActionTokens)],
  ["time", (row) => duration(row.seconds)],
];

/** The maximum and mean staleness; undefined for synchronous steps. */
function staleness({ staleness: most, stalenessMean = most }: StepRecord): string | undefined {
  return most === 0 ? undefined : `${most} (${stalenessMean.toFixed(1)})`;
}

/** A table of the last steps. */
export function stepTable(steps: readonly StepRecord[]): Html {
  if (steps.length === 0) return nothing;
  return html`<h2>The last steps</h2>${numbersTable(stepColumns, steps.slice(-lastSteps))}`;
}

/** A table of these steps with all their numbers, each with a link to its page. */
export function linkedStepTable(steps: readonly StepRecord[], link: (step: StepRecord) => Html): Html {
  const [, ...numbers] = stepColumns;
  return numbersTable([["step", link], ...numbers], steps);
}

/** A table of all evaluations: the run's own, then those made by `everturn evaluate`. */
export function evaluationTable(evaluations: readonly EvaluationRecord[]): Html {
  if (evaluations.length === 0) return nothing;
  return html`<h2>Evaluations</h2>${numbersTable(evaluationColumns, evaluations)}`;
}

function numbersTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Html {
  const filled = columns.filter(([, cell]) => rows.some((row) => cell(row) !== undefined));
  const titles = filled.map(([title]) => title);
  const cells = rows.map((row) => filled.map(([, cell]) => cell(row) ?? "–"));
  return table("Numbers", titles, cells);
}

function optional(
  value: number | undefined,
  written: (value: number) => string = number,
): string | undefined {
  return value === undefined ? undefined : written(value);
}
