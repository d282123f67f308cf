import type { GenerationSettings, RewardBindings } from "./trajectory.ts";

/** The settings of a plan that workflows need. */
export interface RunSettings extends GenerationSettings {
  steps: number;
  warmStartSteps: number;
  /** Steps train on demonstrations or pairs, without rollouts. */
  trainsOnExamples?: true;
  /** The number of portions that trainers share in each step. Absent if steps are not divided. */
  portions?: number;
  batchSize: number;
  groupSize: number;
  /** The most concurrent trajectories. */
  concurrency: number;
  /** Replaces groups whose rewards are all equal, in at most this number of sampling rounds. */
  dynamicSampling?: { maxRounds: number };
  /** How many versions a trajectory may be behind the step that trains on it. 0: steps are synchronous. */
  staleness: number;
  /** A group with fewer finished trajectories is replaced. */
  minGroup: number;
  /** The share of a step's trajectories that infrastructure failures may end before the run stops. */
  maxInfrastructureFailures: number;
  evaluationEvery: number;
  evaluationTasks: number;
  /** How often the plan has changed since the run began. Absent if never. */
  planChanges?: number;
  reward: RewardBindings;
}
