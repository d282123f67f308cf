import type { StepRecord } from "../../contracts/generated/step-record.ts";
import { isObject } from "../../contracts/json.ts";
import type { EvaluationRecord } from "../../contracts/run.ts";

/**
 * A tracker's values for a step: the numbers of its line in metrics.jsonl, as `train/rewardMean` and
 * `train/seconds/total`.
 */
export function stepValues({ step: _, ...record }: StepRecord): Record<string, number> {
  return Object.fromEntries(numbersOf(record, "train"));
}

/** A tracker's values for an evaluation: `evaluation/accuracy` and others. */
export function evaluationValues({
  step: _,
  numbers: __,
  ...record
}: EvaluationRecord): Record<string, number> {
  return Object.fromEntries(numbersOf(record, "evaluation"));
}

/** The finite numbers in a value, by the path that leads to each. */
function numbersOf(value: unknown, path: string): [string, number][] {
  if (typeof value === "number") return Number.isFinite(value) ? [[path, value]] : [];
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, one]) => numbersOf(one, `${path}/${key}`));
}
