import { counted, duration, formatReward, number, percent } from "../../../base/text/format.ts";
import type { StepRecord } from "../../../contracts/generated/step-record.ts";
import type { EvaluationRecord, TrainingResult } from "../../../contracts/run.ts";
import { evaluationStage } from "../../../contracts/stages.ts";

/** The input of `view.end`: the run's result, its duration, and where to look. */
export interface RunSummary extends TrainingResult {
  /** The run as commands take it. */
  named: string;
  seconds: number;
  /** Whether the seconds only count from a resumption. */
  isResumed: boolean;
  folder: string;
  report: string;
}

/** A line about a step. */
export function stepLine(record: StepRecord, steps: number | undefined): string {
  const leftOut = record.leftOut === 0 ? [] : [`left out ${record.leftOut}${leftOutReason(record)}`];
  return [
    `step ${record.step}${steps === undefined ? "" : `/${steps}`}`,
    ...stepNumbers(record),
    ...learningNumbers(record),
    ...(record.staleness === 0 ? [] : [`staleness ${record.staleness}`]),
    ...leftOut,
    duration(record.seconds.total),
  ].join("  ");
}

/** The rewards and behavior of a step's trajectories, or the losses of its examples. */
export function stepNumbers(record: StepRecord): string[] {
  const told = (name: string, value: number | undefined, written: (value: number) => string) =>
    value === undefined ? [] : [`${name} ${written(value)}`];
  const share = (value: number) => percent(value, 0);
  return [
    ...told("epoch", record.epoch, (value) => value.toFixed(2)),
    ...told("loss", record.loss, (value) => value.toFixed(3)),
    ...told("held out", record.heldOutLoss, (value) => value.toFixed(3)),
    ...told("ahead", record.heldOutAccuracy ?? record.accuracy, share),
    ...told("reward", record.rewardMean, formatReward),
    ...told("success", record.successRate, share),
    ...told("tool calls", record.toolCallRate, share),
    ...told("unreadable", unlessZero(record.unreadableCallRate), share),
    ...told("cut", unlessZero(record.cutActionShare), share),
  ];
}

/** How much a step's rewards could teach, and how far its updates moved the policy. */
export function learningNumbers(record: StepRecord): string[] {
  const { rewardSpreadWithin: within, rewardSpreadBetween: between, uniformGroupShare: uniform } = record;
  const numbers = [
    between === undefined
      ? undefined
      : `spread ${within === undefined ? "" : `${formatReward(within)} in groups, `}${formatReward(between)} between`,
    uniform === undefined ? undefined : `uniform ${percent(uniform, 0)}${uniformAt(record)}`,
    record.entropy === undefined ? undefined : `entropy ${record.entropy.toFixed(2)}`,
    `gradient ${number(record.gradientNorm)}`,
    record.clipFraction === undefined ? undefined : `clipped ${percent(record.clipFraction, 0)}`,
    record.kl === undefined ? undefined : `kl ${record.kl.toFixed(3)}`,
  ];
  return numbers.filter((text) => text !== undefined);
}

/** In brackets, how many uniform groups had reward 0 or 1. */
function uniformAt({ zeroGroupShare: zero = 0, oneGroupShare: one = 0 }: StepRecord): string {
  const shares = [
    zero === 0 ? "" : `${percent(zero, 0)} at 0`,
    one === 0 ? "" : `${percent(one, 0)} at 1`,
  ].filter((text) => text !== "");
  return shares.length === 0 ? "" : ` (${shares.join(", ")})`;
}

function unlessZero(value: number | undefined): number | undefined {
  return value === 0 ? undefined : value;
}

/** In brackets, the most frequent reason for leaving out a step's trajectories, whole; "" if the record has none. */
function leftOutReason({ leftOutReasons = {} }: StepRecord): string {
  const [reason] = Object.keys(leftOutReasons);
  return reason === undefined ? "" : ` (${reason})`;
}

/** A line about an evaluation. */
export function evaluationLine(record: EvaluationRecord): string {
  const where = record.step === 0 ? `policy version ${record.policyVersion}` : `after step ${record.step}`;
  const leftOut = record.leftOut === 0 ? "" : `, ${record.leftOut} left out`;
  return `held-out accuracy ${percent(record.accuracy)}  ${where}, ${counted(record.tasks, "task")}${leftOut}  ${duration(record.seconds)}`;
}

/** A line about a server that is up. */
export function serverLine({ ui, address }: { ui?: string; address: string }): string {
  return ui === undefined ? `Temporal at ${address}` : `Temporal UI at ${ui}`;
}

/** A few lines about the end of a run. */
export function summaryLines(summary: RunSummary): string[] {
  const accuracies = [
    `${percent(summary.accuracyBefore)} as built`,
    ...(summary.accuracyWarmStart === null
      ? []
      : [`${percent(summary.accuracyWarmStart)} after the warm start`]),
    `${percent(summary.accuracyAfter)} after ${summary.trainsOnExamples ? "the steps" : "reinforcement learning"}`,
  ];
  const work = [
    counted(summary.steps, "step"),
    counted(summary.trajectories, "trajectory", "trajectories"),
    `${duration(summary.seconds)} ${summary.isResumed ? "since it resumed" : "in all"}`,
  ];
  return [
    `held-out accuracy  ${accuracies.join(" → ")}`,
    `work               ${work.join(", ")}`,
    `report             ${summary.report}`,
    `trajectories       npx everturn trajectories ${summary.named} --stage ${evaluationStage(summary.policyVersion)}`,
  ];
}

const bars = "▁▂▃▄▅▆▇█";

/** The last `width` values as a line of bars, scaled to their own range. */
export function sparkline(values: readonly number[], width: number): string {
  const shown = values.slice(-width);
  const low = Math.min(...shown);
  const range = Math.max(...shown) - low;
  return shown
    .map((value) => bars[range === 0 ? 3 : Math.min(7, Math.floor(((value - low) / range) * 8))])
    .join("");
}

/** A bar of `width` cells, filled to `done` of `of`. */
export function progressBar(done: number, of: number, width: number): string {
  const filled = of === 0 ? 0 : Math.round((Math.min(done, of) / of) * width);
  return "█".repeat(filled) + "░".repeat(width - filled);
}
