import type { EvaluationNumbers } from "./measured.ts";
import type { CarriedRollout, EndedGroup, GroupCursor } from "./rollout.ts";
import type { RunSettings } from "./run-settings.ts";
import type { Queues } from "./trajectory.ts";

/** An evaluation on held-out tasks, greedy unless it says a temperature. */
export interface EvaluationPlan {
  /** `evaluation-v0001`: also the stage of its trajectories. */
  name: string;
  step: number;
  policyVersion: number;
  /** How many tasks; all of them if absent. */
  tasks?: number;
  /** Task file instead of the pipeline's validation set. */
  taskFile?: string;
  /** The SHA-256 of the tasks in it. */
  taskFileSha256?: string;
  /** Switch the tools off. */
  withoutTools?: boolean;
  /** Trajectories of each task; 1 if absent, as in the evaluations that a run makes itself. */
  samples?: number;
  /** 0, greedily, if absent. */
  temperature?: number;
  /** The run whose recorded answers the tools give. */
  toolRecordings?: string;
  /** Of the queues that its work is on: those of the first evaluation of its session. If absent, its own. */
  queuePrefix?: string;
}

/** Held-out accuracy at a policy version. */
export interface EvaluationRecord {
  name: string;
  step: number;
  policyVersion: number;
  /** The share of the trajectories that solved their task. */
  accuracy: number;
  /** Mean reward of the tasks; absent in runs made before it was recorded. */
  rewardMean?: number;
  tasks: number;
  leftOut: number;
  toolCallRate: number;
  meanActionTokens: number;
  seconds: number;
  /** Trajectories of each task, and how they were sampled: of evaluations by `everturn evaluate`. */
  samples?: number;
  temperature?: number;
  /** Of the same: with intervals, by data source and by tag. */
  numbers?: EvaluationNumbers;
}

/** Carried over when the training workflow continues as new. */
export interface TrainingProgress {
  nextStep: number;
  policyVersion: number;
  /** Those before the first step, and the last one. */
  evaluations: EvaluationRecord[];
  trajectories: number;
  /** Mean time of a turn's generation in the last step; absent before the first. */
  turnSeconds?: number;
  /** Of an asynchronous run: its groups. */
  rollout?: CarriedRollout;
  /** Of a synchronous run: the groups that the next step was committed with, if it was, before its workflow was lost. */
  committed?: EndedGroup[];
  /** The files of version 0 or of the warm start's are not what was committed: they are made again before the next step. */
  isFirstBroken?: boolean;
}

/** What the training workflow is started with. */
export interface TrainingInput {
  run: string;
  queues: Queues;
  progress?: TrainingProgress;
}

/** What the training workflow returns. */
export interface TrainingResult {
  run: string;
  steps: number;
  /** They trained on demonstrations or pairs. */
  trainsOnExamples?: true;
  trajectories: number;
  policyVersion: number;
  /** Held-out accuracy of the policy as it was built, after the warm start (null without one), and at the end. */
  accuracyBefore: number;
  accuracyWarmStart: number | null;
  accuracyAfter: number;
}

/** Where a run is now, for the live view. */
export interface RunProgress {
  phase: "open" | "initialize" | "warm-start" | "evaluate" | "step" | "done";
  step: number;
  steps: number;
  /** Steps train on demonstrations or pairs. */
  trainsOnExamples?: true;
  policyVersion: number;
  /** Of the phase: supervised steps done, or trajectories finished. */
  done: number;
  of: number;
  /** The step or evaluation workflow under way. */
  child?: string;
  /** Those before the first step, and the last one. */
  evaluations: EvaluationRecord[];
  /** Steps between evaluations. */
  evaluationEvery: number;
}

/** How far a step or an evaluation is, for the live view: trajectories that have ended, of those that it has so far. */
export interface StageProgress {
  done: number;
  of: number;
  /** What a step does now, once it has its trajectories. Absent in evaluations. */
  phase?: "train" | "publish";
}

/** Input of a step workflow. */
export interface StepInput {
  run: string;
  step: number;
  policyVersion: number;
  settings: RunSettings;
  queues: Queues;
  /** What it trains on and leaves out. */
  groups: EndedGroup[];
  /** Of an asynchronous run: how far its groups are then. */
  cursor?: GroupCursor;
  /** Trajectories in the batches of the steps before. */
  trainedBefore: number;
  /** Since when it waited for them, milliseconds since 1970. */
  since: number;
  /** Turns take less time than their way through the server: such a policy is loaded as quickly. */
  quickTurns: boolean;
}

/** What a step workflow returns to the training workflow. */
export interface StepResult {
  policyVersion: number;
  trajectories: number;
  leftOut: number;
  rewardMean: number;
  /** Mean time of a turn's generation; absent if there was none. */
  turnSeconds?: number;
}

/** Input of an evaluation workflow. */
export interface EvaluationInput {
  run: string;
  plan: EvaluationPlan;
  settings: RunSettings;
  queues: Queues;
  /** Turns take less time than their way through the server. */
  quickTurns?: boolean;
}

/** The names of a run's search attributes. */
export type SearchAttributeName =
  | "EverturnRun"
  | "EverturnStage"
  | "EverturnStep"
  | "EverturnPolicyVersion"
  | "EverturnTask"
  | "EverturnOutcome"
  | "EverturnReward"
  | "EverturnTools"
  | "EverturnWaiting";

/** Where a run's server is and how its queues are named: `run.json` of the run folder. */
export interface RunFile {
  run: string;
  createdAt: string;
  /** Absent when the run has its own dev server. */
  address?: string;
  namespace: string;
  queues: Queues;
  /** The URL of its store; absent when that is its folder. */
  store?: string;
  /** Whether the workflows were bundled with OpenTelemetry's interceptors. */
  telemetry: boolean;
}

/** The signal that makes a worker drop what it has cached of a workflow and rebuild it from its history. */
export const buildAnew = "build-anew";
