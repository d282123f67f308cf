import type { StepRecord } from "../../contracts/generated/step-record.ts";
import type { Plan } from "../../contracts/plan.ts";
import type { EvaluationRecord } from "../../contracts/run.ts";

/** The records of a run up to some step. */
export interface Evidence {
  plan: Plan;
  /**
   * In order: the run's first step and its last ones (`evidenceWindow`). Empty before the first step, when only early
   * conditions are checked.
   */
  steps: readonly StepRecord[];
  /** The run's own evaluations up to the last of these steps, in order. */
  evaluations: readonly EvaluationRecord[];
}

/** A reason for which a run does not learn, or will stop learning. */
export interface Condition {
  /** The condition in a few words, as a heading. */
  title: string;
  /** When the condition holds, in words, for docs/not-learning.md. */
  when: string;
  /** The consequence for the run. */
  consequence: string;
  /** What to try, the most likely remedy first. */
  remedies: readonly string[];
  /** The condition may hold before the first step. Default: false. */
  isEarly?: boolean;
  /** The evidence that the condition holds at the last step; undefined if it does not hold. */
  find(evidence: Evidence): string | undefined;
}

/** Conditions look at no more steps than this, besides the first. */
const recentSteps = 20;

/** Returns the first of a list's items up to `end` and the last of them: the steps that a diagnosis looks at. */
export function evidenceWindow<Item>(items: readonly Item[], end: number): Item[] {
  return [...items.slice(0, Math.min(1, end)), ...items.slice(Math.max(1, end - recentSteps), end)];
}

/** The last `count` steps if all of them satisfy `isSo`; undefined otherwise. */
export function lastSteps(
  { steps }: Pick<Evidence, "steps">,
  count: number,
  isSo: (record: StepRecord) => boolean,
): readonly StepRecord[] | undefined {
  const last = steps.slice(-count);
  return last.length === count && last.every(isSo) ? last : undefined;
}

/** The last of a list of steps, which has at least one. */
export function lastStep({ steps }: Pick<Evidence, "steps">): StepRecord {
  const last = steps.at(-1);
  if (last === undefined) throw new RangeError("a diagnosis needs a step");
  return last;
}

/** Steps that trained on rollouts have a reward; steps on examples do not. */
export function isOnRollouts(record: StepRecord): record is StepRecord & { rewardMean: number } {
  return record.rewardMean !== undefined;
}
