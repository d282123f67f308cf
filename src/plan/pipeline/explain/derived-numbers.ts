import { defined } from "../../../base/records/defined.ts";
import type { Plan } from "../../../contracts/plan.ts";
import type { Preflight } from "../check/preflight.ts";

/** Numbers that follow from a plan before anything runs. Numbers that depend on uncounted rows are absent. */
export interface DerivedNumbers {
  steps: number;
  /** Per step: its tasks, the trajectories of each task, and all of them. */
  tasksOfStep: number;
  groupSize: number;
  trajectoriesOfStep: number;
  /** The trajectories that the whole run trains on. */
  trajectories: number;
  trainingTasks?: number;
  /**
   * Demonstrations or pairs in all updates, counted once per use. Absent if the run trains on trajectories.
   */
  examples?: number;
  /** How often the run goes through its training tasks. */
  passes?: number;
  /** The tasks of each evaluation, and the number of evaluations, including those before the first step. */
  evaluationTasks: number;
  evaluations: number;
  warmStartSteps: number;
  /** The maximum tokens of a trajectory, and of a step's trajectories together. */
  tokensOfTrajectory?: number;
  tokensOfStep?: number;
  longestPrompt?: number;
  /** The maximum tokens of an action. */
  actionTokens: number;
}

/** Computes the numbers that follow from a plan. */
export function derivedNumbers(
  { steps, rollout, evaluation, warmStart, sft, dpo }: Plan,
  { counted }: Pick<Preflight, "counted">,
): DerivedNumbers {
  const examples = dpo ?? sft;
  const { batchSize, groupSize, maxActionTokens } = rollout;
  const tasksOfStep = batchSize / groupSize;
  const rowsOf = (name: string) => counted?.rows.find((row) => row.name === name);
  const train = rowsOf("dataset.train");
  const validation = rowsOf("dataset.validation")?.rows ?? evaluation.tasks;
  return defined({
    steps,
    tasksOfStep,
    groupSize,
    trajectoriesOfStep: batchSize,
    trajectories: examples === undefined ? steps * batchSize : 0,
    trainingTasks: train?.rows,
    passes: train && (steps * tasksOfStep) / train.rows,
    longestPrompt: train?.longest,
    examples: examples === undefined ? undefined : steps * examples.updates * examples.batchSize,
    evaluationTasks: Math.min(evaluation.tasks, validation),
    evaluations: (warmStart === undefined ? 1 : 2) + dueSteps(steps, evaluation.every),
    warmStartSteps: warmStart?.steps ?? 0,
    tokensOfTrajectory: counted?.room,
    tokensOfStep: counted && counted.room * batchSize,
    actionTokens: maxActionTokens,
  });
}

/** The number of steps that an evaluation follows: every `every`th, and the last one. */
function dueSteps(steps: number, every: number): number {
  if (every === 0) return 1;
  return Math.floor(steps / every) + (steps % every === 0 ? 0 : 1);
}
