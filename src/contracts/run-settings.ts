import type { FormatName } from "./format-name.ts";
import type { SamplingParameters } from "./policy.ts";
import type { Limits, LoopBinding, RewardBindings, ToolBinding } from "./trajectory.ts";

/** What the workflows need of the plan. */
export interface RunSettings {
  seed: number;
  steps: number;
  warmStartSteps: number;
  /** Steps train on demonstrations or pairs; nothing is rolled out for them. */
  trainsOnExamples?: true;
  batchSize: number;
  groupSize: number;
  /** Trajectories at once. */
  concurrency: number;
  /** Groups without variance in their rewards are replaced, in at most so many rounds of sampling. */
  dynamicSampling?: { maxRounds: number };
  /** Versions that a trajectory may be behind the step that trains on it. 0: steps are synchronous. */
  staleness: number;
  /** A group with fewer finished trajectories is replaced. */
  minGroup: number;
  /** The share of a step's trajectories that infrastructure may fail before the run stops. */
  maxInfrastructureFailures: number;
  sampling: SamplingParameters;
  limits: Limits;
  evaluationEvery: number;
  evaluationTasks: number;
  loop: LoopBinding;
  /** By the `agent_name` of their tasks; absent if there is one loop alone. */
  loops?: Record<string, LoopBinding>;
  /** How actions are written; hermes if absent. */
  format?: FormatName;
  tools: ToolBinding[];
  /** How often the plan was changed since the run began; absent if never. */
  planChanges?: number;
  reward: RewardBindings;
}
