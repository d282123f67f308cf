import type { EvaluationNumbers } from "./measured.ts";
import type { CarriedRollout, EndedGroup, GroupCursor } from "./rollout.ts";
import type { RunSettings } from "./run-settings.ts";
import type { Queues } from "./trajectory.ts";

/** An evaluation on held-out tasks, greedy unless it sets a temperature. */
export interface EvaluationPlan {
  /** For example `evaluation-v0001`. Also the stage of its trajectories. */
  name: string;
  step: number;
  policyVersion: number;
  /** The number of tasks. Default: all. */
  tasks?: number;
  /** A task file that replaces the pipeline's validation set. */
  taskFile?: string;
  /** The SHA-256 of that file's tasks. */
  taskFileSha256?: string;
  /** Disables the tools. */
  withoutTools?: boolean;
  /** Trajectories per task. Default: 1, as in a run's own evaluations. */
  samples?: number;
  /** Default: 0, which is greedy. */
  temperature?: number;
  /** The run whose recorded answers the tools return. */
  toolRecordings?: string;
  /** The prefix of the queues for its work: that of the first evaluation of its session. Default: its own. */
  queuePrefix?: string;
}

/** Held-out accuracy at a policy version. */
export interface EvaluationRecord {
  name: string;
  step: number;
  policyVersion: number;
  /** The share of trajectories that solved their task. */
  accuracy: number;
  /** Mean reward of the tasks. Absent in runs of releases that did not record it. */
  rewardMean?: number;
  tasks: number;
  leftOut: number;
  /** Share of the trajectories that made a tool call that could be read. */
  toolCallRate: number;
  /** Share of the tool calls that are valid, and of those that could not be read; absent in runs of 0.3. */
  validCallRate?: number;
  unreadableCallRate?: number;
  /** Share of the actions that a limit cut; absent in runs of 0.3. */
  cutActionShare?: number;
  /** As in step records. */
  toolDifferences?: string[];
  meanActionTokens: number;
  seconds: number;
  /** Trajectories per task and their sampling, in evaluations by `everturn evaluate`. */
  samples?: number;
  temperature?: number;
  /** Also in those: results with intervals, by data source and by tag. */
  numbers?: EvaluationNumbers;
}

/** The state that the training workflow carries over when it continues as new. */
export interface TrainingProgress {
  nextStep: number;
  policyVersion: number;
  /** The evaluations before the first step, and the last one. */
  evaluations: EvaluationRecord[];
  trajectories: number;
  /** Mean generation time of a turn in the last step. Absent before the first. */
  turnSeconds?: number;
  /** Set in an asynchronous run: its groups. */
  rollout?: CarriedRollout;
  /**
   * Set in a synchronous run: the groups that the next step was committed with, if the workflow was lost after the
   * commit.
   */
  committed?: EndedGroup[];
  /**
   * The files of version 0 or of the warm start's version differ from the committed ones. They are rebuilt before the
   * next step.
   */
  isFirstBroken?: boolean;
}

/** The input of the training workflow. */
export interface TrainingInput {
  run: string;
  queues: Queues;
  progress?: TrainingProgress;
}

/** The result of the training workflow. */
export interface TrainingResult {
  run: string;
  steps: number;
  /** Its steps trained on demonstrations or pairs. */
  trainsOnExamples?: true;
  trajectories: number;
  policyVersion: number;
  /** Held-out accuracy of the initial policy, after the warm start (null without one), and at the end. */
  accuracyBefore: number;
  accuracyWarmStart: number | null;
  accuracyAfter: number;
}

/** The state of a run for the live view. */
export interface RunProgress {
  phase: "open" | "initialize" | "warm-start" | "evaluate" | "step" | "done";
  step: number;
  steps: number;
  /** Steps train on demonstrations or pairs. */
  trainsOnExamples?: true;
  policyVersion: number;
  /** Progress of the phase: supervised steps done, or trajectories finished. */
  done: number;
  of: number;
  /** The active step or evaluation workflow. */
  child?: string;
  /** The evaluations before the first step, and the last one. */
  evaluations: EvaluationRecord[];
  /** Steps between evaluations. */
  evaluationEvery: number;
}

/**
 * Progress of a step or evaluation for the live view: the number of ended trajectories, and of all trajectories so far.
 */
export interface StageProgress {
  done: number;
  of: number;
  /** What a step does once it has its trajectories. Absent in evaluations. */
  phase?: "train" | "publish";
}

/** The input of a step workflow. */
export interface StepInput {
  run: string;
  step: number;
  policyVersion: number;
  settings: RunSettings;
  queues: Queues;
  /** The groups that it trains on or leaves out. */
  groups: EndedGroup[];
  /** Set in an asynchronous run: the position in its groups after the step. */
  cursor?: GroupCursor;
  /** The number of trajectories in the batches of earlier steps. */
  trainedBefore: number;
  /** When it began to wait for them, in milliseconds since 1970. */
  since: number;
  /** Turns take less time than a round trip through the server. Such a policy also loads that quickly. */
  quickTurns: boolean;
}

/** Why a run stops before its last step. */
export interface StopReason {
  condition: string;
  evidence: string;
  /** The most likely remedy. */
  remedy: string;
}

/** The result that a step workflow returns to the training workflow. */
export interface StepResult {
  policyVersion: number;
  trajectories: number;
  leftOut: number;
  rewardMean: number;
  /** Mean generation time of a turn. Absent if there was no turn. */
  turnSeconds?: number;
  /** Why the run stops after this step. Absent if it continues. */
  stop?: StopReason;
}

/** The input of an evaluation workflow. */
export interface EvaluationInput {
  run: string;
  plan: EvaluationPlan;
  settings: RunSettings;
  queues: Queues;
  /** Turns take less time than a round trip through the server. */
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

/** The contents of `run.json` in the run folder: the run's server and how its queues are named. */
export interface RunFile {
  run: string;
  createdAt: string;
  /** Absent if the run has its own development server. */
  address?: string;
  namespace: string;
  queues: Queues;
  /** The URL of its store. Absent if the store is the run folder. */
  store?: string;
  /** The pool whose workers generate and train for it. Absent if it has workers of its own. */
  pool?: string;
  /** Its place among the runs of its pool: 1 comes first, 5 last. Absent: 3. */
  priority?: number;
  /** Set if the run's commands start no workers, because `everturn worker` starts them all. */
  workers?: "elsewhere";
  /** Whether the workflows were bundled with OpenTelemetry's interceptors. */
  telemetry: boolean;
  /** The first key that encrypts its payloads on the Temporal server. Absent if they are not encrypted. */
  encryption?: RecordedKey;
}

/** What identifies a key of EVERTURN_CODEC_KEYS without revealing it. */
export interface RecordedKey {
  id: string;
  /** 16 digits of a digest, which tell keys with the same id apart. */
  check: string;
}

/** The signal that makes a worker drop its cached state of a workflow and rebuild it from history. */
export const buildAnew = "build-anew";

/** A process that works, or worked, on a run whose store several machines reach. */
export interface StoreSession {
  process: { pid: number; started: string; machine: string };
  /** The name of its machine or container, for people. */
  host: string;
  /** The identity of that machine's folder of the run. */
  identity: string;
}

/** A build of a run's workflow code in its store. */
export interface WorkflowBuild {
  /** 16 digits of the SHA-256 of its bundle. */
  build: string;
  /** The SHA-256 of its bundle, whose bytes are in the store. */
  sha256: string;
}
