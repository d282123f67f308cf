import type { Approval } from "./approval.ts";
import type { GenerateTurnInput, GenerateTurnResult } from "./generate-turn.ts";
import type { StepRecord } from "./generated/step-record.ts";
import type { Task } from "./generated/task.ts";
import type { BatchMember, ExampleMetrics, LeftOut, TrainStepResult } from "./ledger.ts";
import type { SpokenMessage, ToolCall } from "./message.ts";
import type { Score } from "./reward.ts";
import type { GroupCursor, GroupPlace, TrajectorySummary } from "./rollout.ts";
import type { EvaluationRecord, TrainingProgress } from "./run.ts";
import type { RunSettings } from "./run-settings.ts";
import type { RunAgentInput, RunAgentResult } from "./session.ts";
import type {
  Origin,
  Outcome,
  RefusedCall,
  RewardRange,
  SegmentRef,
  TaskSet,
  TaskSource,
  TokenCounts,
  TrajectoryPlace,
} from "./trajectory.ts";

/**
 * The task of a trajectory, or where it stands, if the worker that serves the activity has the tasks: it is a local
 * activity of the trajectory's workflow then.
 */
export type GivenTask = { task: Task } | { source: TaskSource };

/** A message that a person wants to add to a trajectory. */
export interface FrameMessageInput {
  run: string;
  message: SpokenMessage;
}

/** How many tokens it will be. */
export interface FrameMessageResult {
  tokens: number;
}

/** A tool call of a trajectory. The activity's type is the tool's name. */
export interface CallToolInput {
  place: TrajectoryPlace;
  turn: number;
  call: number;
  /** Of tools that have state, or whose calls are answered from recordings. */
  task?: Task | undefined;
  arguments: ToolCall["arguments"];
  /** The tool holds state from an earlier call of the trajectory. Default false. */
  continues?: boolean | undefined;
  /** Folder of the run whose recorded results answer the call; the tool is called if absent. */
  recordings?: string | undefined;
  /** Milliseconds that the tool may work on it: TIME_LIMIT_REACHED after that. */
  timeLimit?: number | undefined;
  /** A person approved the call, perhaps with other arguments. */
  approval?: Approval["decision"] | undefined;
  /** What a person answered, where the call is a question. */
  answer?: string | undefined;
  /** The agent loop makes the call for itself. */
  byLoop?: true | undefined;
  /** Nobody has answered the question yet: it is to be asked if its arguments fit. */
  isUnasked?: true | undefined;
  /** The worker that holds the tool's state and did not take the call. */
  silent?: SilentWorker | undefined;
}

/** A worker that did not take what was asked on its own queue. */
export interface SilentWorker {
  queue: string;
  /** For how long it was waited for. */
  ms: number;
}

/** The call is a question that a person can be asked. */
export interface Askable {
  isAskable: true;
}

/** The tool's state is held by another worker than the one that was asked: the one with this queue. */
export interface HeldElsewhere {
  heldBy: string;
}

/** What the tool answered. `valid` is false where the arguments break the tool's schema, or the tool said so (`invalid`). */
export interface CallToolResult {
  observation: string;
  valid: boolean;
  /** Why the tool said that the call is none that may be made. */
  invalid?: string;
  /** The tool said that there is nothing more to do. */
  done?: boolean;
  reward: number;
  attempts: number;
  /** Of the execution that answered, without waits for its turn, its host, its instance. */
  seconds: number;
  /** The own queue of the worker that holds the tool's state now, where the call came by another one. */
  holder?: string;
}

/** A trajectory that has ended. */
export interface EndedTrajectory {
  place: TrajectoryPlace;
  task: Task;
  /** How many turns the journal holds of it. */
  turns: number;
  /** How many calls its last turn began, answered or not. */
  calls: number;
  head: SegmentRef | null;
  /** The version that it was started with. */
  policyVersion: number;
  tokens: TokenCounts;
  /** When the trajectory began, milliseconds since 1970. */
  startedAt: number;
  /** Calls of its last turn that the journal does not hold yet. */
  refused?: RefusedCall[];
  /** Of a fork. */
  origin?: Origin;
}

/** A finished trajectory to score and to record. */
export type ScoreInput = Omit<EndedTrajectory, "task"> &
  GivenTask & {
    outcome: Outcome;
    /** What its agent said was its answer. */
    answer?: string;
  };

/** A group whose trajectories have ended, to score and to record. */
export interface ScoreGroupInput {
  run: string;
  group: GroupPlace;
  source: TaskSet;
  /** Those that its rewards compare: trajectories that were scored, and not left out. */
  finished: number[];
}

/** The whole score of a member of a group, or why it has none. */
export type MemberScore = { sample: number } & (Earned | { failure: string });

/** A trajectory whose workflow could not say how far it came: turns, head and tokens are what the journal holds. */
export type Lost = Omit<EndedTrajectory, "turns" | "calls" | "head" | "tokens" | "refused">;

/** An ended trajectory, by the name of its task. */
type Named<Ended> = Omit<Ended, "task"> & { source: TaskSource };

/** A trajectory that its infrastructure ended, to record. */
export type RecordLeftOutInput = (Named<EndedTrajectory> | Named<Lost>) & { failure: string };

/** Asks what to do; a workflow that continued as new knows how far it is. */
export interface OpenRunInput {
  run: string;
  knowsProgress: boolean;
}

/** What the run's first activity tells the training workflow. */
export interface OpenRunResult {
  settings: RunSettings;
  /** How far the run has come, from the records on disk: a new run, or one whose workflow was lost. */
  progress?: TrainingProgress;
}

/** Asks that the shards of a run end that began before a time (ISO 8601). */
export interface EndShardsInput {
  run: string;
  before: string;
}

/** Asks what came of trajectories that have ended; `policyVersion` is the version of those without a turn. */
export interface ReadEndedInput {
  run: string;
  trajectories: string[];
  policyVersion: number;
}

/** Tasks that take the place of others in a step. */
export interface Replacement {
  /** Rounds of sampling are counted from 1: the tasks that the step began with. */
  round: number;
  count: number;
  /** The ids of the tasks of all rounds before. */
  drawn: string[];
}

/** Asks for the ids of the tasks of a step, of those that replace some of them, or of an evaluation on the first `limit`. */
export interface DrawTasksInput {
  run: string;
  step: number;
  replacement?: Replacement;
  evaluation?: { source: TaskSet; limit?: number };
}

/** Asks that the trajectories of groups be reserved, which are about to start. */
export interface ReserveGroupsInput {
  run: string;
  groups: GroupPlace[];
  source: TaskSet;
}

/** Asks for the task of a trajectory. */
export interface LoadTaskInput {
  place: TrajectoryPlace;
  source: TaskSource;
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

/** What a trajectory earned in all. */
export interface Earned extends Pick<Score, "reward" | "success"> {
  /** Where the trainer compares turns. */
  turnRewards?: RewardRange;
}

/** A policy-gradient step from `policyVersion` to the next one. */
export interface TrainStepInput {
  run: string;
  step: number;
  policyVersion: number;
  batch: BatchMember[];
  /** How many members of a group there have to be. */
  minGroup: number;
  /** Trajectories that the step was offered and does not train on. */
  leftOut: LeftOut[];
  /** Of an asynchronous run. */
  cursor?: GroupCursor;
}

/** A step on demonstrations or pairs, from `policyVersion` to the next one. */
export type TrainExamplesInput = Pick<TrainStepInput, "run" | "step" | "policyVersion">;

/** Makes a version the one that generates. */
export interface PublishPolicyInput {
  run: string;
  policyVersion: number;
}

/** A line of `metrics.jsonl`. */
export interface RecordStepInput {
  run: string;
  record: StepRecord;
  /** The trajectories that finished, whose metrics are averaged. */
  finished: string[];
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
  "frame-message"(input: FrameMessageInput): Promise<FrameMessageResult>;
  "publish-policy"(input: PublishPolicyInput): Promise<{ seconds: number }>;
}

/** Activities of the queue `tools`, beside one for each tool, named after it. */
export interface ToolActivities {
  "score-trajectory"(input: ScoreInput): Promise<Earned>;
  /** Runs the agent of a trajectory whose loop waits for its requests. */
  "run-agent"(input: RunAgentInput): Promise<RunAgentResult>;
  /** A score for each trajectory that finished. */
  "score-group"(input: ScoreGroupInput): Promise<MemberScore[]>;
  /** Says on which queues those tools are held that another worker holds, if there are any. */
  "release-tools"(input: {
    place: TrajectoryPlace;
    tools: string[];
  }): Promise<Record<string, string> | undefined>;
}

/** Activities of the queue `trainer`. */
export interface TrainerActivities {
  "warm-start"(input: WarmStartInput): Promise<WarmStartResult>;
  "train-step"(input: TrainStepInput): Promise<TrainStepResult>;
  "train-examples"(input: TrainExamplesInput): Promise<TrainStepResult<ExampleMetrics>>;
}

/** Activities of the queue `orchestration`: the run's files. */
export interface RunActivities {
  "open-run"(input: OpenRunInput): Promise<OpenRunResult>;
  "end-shards"(input: EndShardsInput): Promise<void>;
  "read-ended"(input: ReadEndedInput): Promise<TrajectorySummary[]>;
  "draw-tasks"(input: DrawTasksInput): Promise<string[]>;
  "reserve-groups"(input: ReserveGroupsInput): Promise<string[]>;
  "load-task"(input: LoadTaskInput): Promise<Task>;
  "record-left-out"(input: RecordLeftOutInput): Promise<void>;
  "record-step"(input: RecordStepInput): Promise<void>;
  "record-evaluation"(input: RecordEvaluationInput): Promise<void>;
}
