import type { EvaluationNumbers, Measured } from "../../contracts/measured.ts";
import { byName, tagsOf } from "./groups.ts";
import { measuresOf } from "./measures.ts";
import type { TaskOutcomes } from "./outcomes.ts";

/** The measures of an evaluation: of all tasks, and by data source and tag. */
export function numbersOf(outcomes: readonly TaskOutcomes[]): EvaluationNumbers {
  const measures = measuresOf(samplesOf(outcomes));
  const measured = (tasks: readonly TaskOutcomes[]): Measured => ({
    tasks: tasks.length,
    measures: Object.fromEntries(measures.map(({ name, of, estimate }) => [name, estimate(tasks.map(of))])),
  });
  return {
    ...measured(outcomes),
    bySource: byName(outcomes, ({ task }) => [task.data_source], measured),
    byTag: byName(outcomes, ({ task }) => tagsOf(task), measured),
  };
}

/** The number of samples per task: the maximum, in case some can't be read. */
export function samplesOf(outcomes: readonly TaskOutcomes[]): number {
  return outcomes.reduce((most, { samples }) => Math.max(most, samples.length), 1);
}
