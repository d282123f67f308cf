import { EverturnError } from "../../base/errors/everturn-error.ts";
import { type PairedDifference, pairedDifference } from "../../base/statistics/paired.ts";
import type { Estimate } from "../../contracts/measured.ts";
import type { EvaluationRecord } from "../../contracts/run.ts";
import { byName, tagsOf } from "./groups.ts";
import { type Measure, measuresOf, successRate } from "./measures.ts";
import { samplesOf } from "./numbers.ts";
import type { TaskOutcomes } from "./outcomes.ts";

/** An evaluation in a comparison. */
export interface ComparedEvaluation extends Pick<EvaluationRecord, "policyVersion" | "temperature"> {
  /** `RUN/EVALUATION`. */
  id: string;
  samples: number;
  tasks: number;
}

/** The measures of two evaluations on the same tasks. */
export interface ComparedMeasures {
  tasks: number;
  /** By name, those that both have. */
  measures: Record<string, { first: Estimate; second: Estimate; difference: PairedDifference }>;
}

/** The comparison of two evaluations over the tasks that both have. */
export interface EvaluationComparison extends ComparedMeasures {
  first: ComparedEvaluation;
  second: ComparedEvaluation;
  /**
   * Tasks with at least half of the samples solved in the second evaluation but not in the first (`gained`),
   * and vice versa.
   */
  gained: string[];
  lost: string[];
  bySource: Record<string, ComparedMeasures>;
  byTag: Record<string, ComparedMeasures>;
}

/** An evaluation of a run with its tasks' outcomes. */
export interface MeasuredEvaluation {
  id: string;
  record: EvaluationRecord;
  outcomes: readonly TaskOutcomes[];
}

interface Pair {
  first: TaskOutcomes;
  second: TaskOutcomes;
}

/**
 * Compares two evaluations task by task. Throws EVALUATIONS_INCOMPARABLE if they have no task in common, or if tasks
 * with the same id differ.
 */
export function compareEvaluations(
  first: MeasuredEvaluation,
  second: MeasuredEvaluation,
): EvaluationComparison {
  const pairs = pairsOf(first, second);
  const measures = commonMeasures(samplesOf(first.outcomes), samplesOf(second.outcomes));
  const compared = (some: readonly Pair[]) => comparedMeasures(some, measures);
  const solved = (task: TaskOutcomes) => successRate(task) >= 0.5;
  const changed = (is: (pair: Pair) => boolean) => pairs.filter(is).map((pair) => pair.first.id);
  return {
    first: described(first),
    second: described(second),
    ...compared(pairs),
    gained: changed((pair) => !solved(pair.first) && solved(pair.second)),
    lost: changed((pair) => solved(pair.first) && !solved(pair.second)),
    bySource: byName(pairs, (pair) => [pair.first.task.data_source], compared),
    byTag: byName(pairs, (pair) => tagsOf(pair.first.task), compared),
  };
}

function described({ id, record, outcomes }: MeasuredEvaluation): ComparedEvaluation {
  const { policyVersion, temperature = 0 } = record;
  return { id, policyVersion, temperature, samples: samplesOf(outcomes), tasks: outcomes.length };
}

function pairsOf(first: MeasuredEvaluation, second: MeasuredEvaluation): Pair[] {
  const refused = (reason: string) =>
    new EverturnError("EVALUATIONS_INCOMPARABLE", { first: first.id, second: second.id, reason });
  const others = new Map(second.outcomes.map((one) => [one.id, one]));
  const pairs = first.outcomes.flatMap((one) => {
    const other = others.get(one.id);
    return other === undefined ? [] : [{ first: one, second: other }];
  });
  if (pairs.length === 0) throw refused("they have no task in common");
  const differing = pairs.filter((pair) => contentOf(pair.first) !== contentOf(pair.second));
  const [example] = differing;
  if (example === undefined) return pairs;
  throw refused(
    `${differing.length} of their ${pairs.length} tasks differ, for example ${example.first.id}: they use different task sets`,
  );
}

/** The part of a task that identifies it. */
function contentOf({ task }: TaskOutcomes): string {
  return JSON.stringify([task.data_source, task.prompt, task.reward_model.ground_truth]);
}

function commonMeasures(first: number, second: number): Measure[] {
  const names = new Set(measuresOf(second).map(({ name }) => name));
  return measuresOf(first).filter(({ name }) => names.has(name));
}

function comparedMeasures(pairs: readonly Pair[], measures: readonly Measure[]): ComparedMeasures {
  const compared = measures.map(({ name, of, estimate }) => {
    const first = pairs.map((pair) => of(pair.first));
    const second = pairs.map((pair) => of(pair.second));
    const difference = pairedDifference(first, second);
    return [name, { first: estimate(first), second: estimate(second), difference }] as const;
  });
  return { tasks: pairs.length, measures: Object.fromEntries(compared) };
}
