import { defined } from "../../../base/records/defined.ts";
import type { Plan } from "../../../contracts/plan.ts";
import type { Preflight } from "../check/preflight.ts";

/** What follows from a plan, before anything runs. What rests on rows that were not counted is absent. */
export interface DerivedNumbers {
  steps: number;
  /** Of a step: its tasks, the trajectories of each, and all of them. */
  tasksOfStep: number;
  groupSize: number;
  trajectoriesOfStep: number;
  /** Of the whole run, those that are trained on. */
  trajectories: number;
  trainingTasks?: number;
  /** Demonstrations or pairs that all updates train on, each as often as it is; absent where trajectories are. */
  examples?: number;
  /** How often the run goes through its training tasks. */
  passes?: number;
  /** Of each evaluation; and how many there are, those before the first step among them. */
  evaluationTasks: number;
  evaluations: number;
  warmStartSteps: number;
  /** At most, of a trajectory and of a step's trajectories together. */
  tokensOfTrajectory?: number;
  tokensOfStep?: number;
  longestPrompt?: number;
  /** At most, of an action. */
  actionTokens: number;
}

/** Counts what a plan will do. */
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

/** Steps that an evaluation follows: each so many, and the last one. */
function dueSteps(steps: number, every: number): number {
  if (every === 0) return 1;
  return Math.floor(steps / every) + (steps % every === 0 ? 0 : 1);
}
