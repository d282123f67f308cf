import type { StepRecord } from "./generated/step-record.ts";
import type { Task } from "./generated/task.ts";
import type { Message, ToolCall, ToolDefinition } from "./message.ts";
import type { SamplingParameters } from "./policy.ts";
import type { Score } from "./reward.ts";
import type { EvaluationPlan, EvaluationRecord, RunSettings, TrainingProgress } from "./run.ts";
import type { PolicyGradientMetrics } from "./trainer.ts";
import type { Outcome, SegmentRef, TokenCounts, TrajectoryPlace, TurnRecord } from "./trajectory.ts";

/** Asks for the next action of a trajectory. A turn carries what it adds: a prompt, or observations. */
export interface GenerateTurnInput {
  place: TrajectoryPlace;
  turn: number;
  policyVersion: number;
  /** The segment that this turn follows; null for the first turn. */
  head: SegmentRef | null;
  /** What is appended before the action: the prompt at the first turn, tool messages later. */
  messages: Message[];
  /** Tools named in the prompt; only the first turn has them. */
  tools?: ToolDefinition[];
  sampling: SamplingParameters;
  seed: number;
}

/** The action, and where its segment lies. */
export interface GenerateTurnResult {
  action: string;
  finishReason: "stop" | "length";
  head: SegmentRef;
  policyVersion: number;
  tokens: TokenCounts;
  seconds: number;
}

/** A tool call of a trajectory. The activity's type is the tool's name. */
export interface CallToolInput {
  place: TrajectoryPlace;
  turn: number;
  call: number;
  task: Task;
  arguments: ToolCall["arguments"];
  /** The tool holds state from an earlier call of the trajectory. Default false. */
  continues?: boolean;
}

/** What the tool answered. `valid` is false where the arguments break the tool's schema. */
export interface CallToolResult {
  observation: string;
  valid: boolean;
  reward: number;
  attempts: number;
  seconds: number;
}

/** A finished trajectory to score and to record. */
export interface ScoreTrajectoryInput {
  place: TrajectoryPlace;
  task: Task;
  turns: TurnRecord[];
  outcome: Outcome;
  answer: string;
  head: SegmentRef | null;
  policyVersion: number;
  tokens: TokenCounts;
  /** Rewards that tools gave, added to the score. */
  toolReward: number;
  /** When the trajectory began, milliseconds since 1970. */
  startedAt: number;
}

/** A trajectory that its infrastructure ended, to record. */
export interface RecordLeftOutInput extends Omit<ScoreTrajectoryInput, "answer" | "outcome" | "toolReward"> {
  failure: string;
}

/** What the run's first activity tells the training workflow: how far the run has come on disk. */
export interface OpenRunResult {
  settings: RunSettings;
  /** From the records on disk: a new run, or one whose workflow was lost. */
  progress: TrainingProgress;
}

/** The tasks of a step or of an evaluation. */
export interface SelectTasksInput {
  run: string;
  /** A step's number, or the evaluation's plan. */
  step?: number;
  /** Of a step with dynamic sampling: so many other tasks, from its second round on. */
  replacement?: { round: number; count: number };
  evaluation?: EvaluationPlan;
}

/** A task and its id in its data set. */
export interface SelectedTask {
  id: string;
  task: Task;
}

/** Supervised steps `from` to `to` (excluded) of the warm start; the last slice publishes version 1. */
export interface WarmStartInput {
  run: string;
  from: number;
  to: number;
}

/** The loss at the slice's first and last step. */
export interface WarmStartResult {
  firstLoss: number;
  lastLoss: number;
  seconds: number;
}

/** A trajectory that goes into a step. */
export interface BatchMember {
  trajectory: string;
  head: SegmentRef;
  reward: number;
  /** What the tools of each turn added to the reward; absent if nothing. */
  turnRewards?: number[];
  group: string;
}

/** A policy-gradient step from `policyVersion` to the next one. */
export interface TrainStepInput {
  run: string;
  step: number;
  policyVersion: number;
  batch: BatchMember[];
}

/** The new version and its metrics. */
export interface TrainStepResult {
  policyVersion: number;
  metrics: PolicyGradientMetrics;
  seconds: number;
}

/** Makes a version the one that generates. */
export interface PublishPolicyInput {
  run: string;
  policyVersion: number;
}

/** A line of `metrics.jsonl`. */
export interface RecordStepInput {
  run: string;
  record: StepRecord;
}

/** An evaluation's result, to be written down. */
export interface RecordEvaluationInput {
  run: string;
  record: EvaluationRecord;
}

/** Activities of the queue `policy`. */
export interface PolicyActivities {
  "initialize-policy"(input: { run: string }): Promise<{ policyVersion: number }>;
  "generate-turn"(input: GenerateTurnInput): Promise<GenerateTurnResult>;
  "publish-policy"(input: PublishPolicyInput): Promise<{ seconds: number }>;
}

/** Activities of the queue `tools`, beside one for each tool, named after it. */
export interface ToolActivities {
  "score-trajectory"(input: ScoreTrajectoryInput): Promise<Score>;
  "release-tools"(input: { place: TrajectoryPlace; tools: string[] }): Promise<void>;
}

/** Activities of the queue `trainer`. */
export interface TrainerActivities {
  "warm-start"(input: WarmStartInput): Promise<WarmStartResult>;
  "train-step"(input: TrainStepInput): Promise<TrainStepResult>;
}

/** Activities of the queue `orchestration`: the run's files. */
export interface RunActivities {
  "open-run"(input: { run: string }): Promise<OpenRunResult>;
  "select-tasks"(input: SelectTasksInput): Promise<SelectedTask[]>;
  "record-left-out"(input: RecordLeftOutInput): Promise<void>;
  "record-step"(input: RecordStepInput): Promise<void>;
  "record-evaluation"(input: RecordEvaluationInput): Promise<void>;
}
