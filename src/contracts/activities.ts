import type { Approval } from "./approval.ts";
import type { GenerateTurnInput, GenerateTurnResult } from "./generate-turn.ts";
import type { StepRecord } from "./generated/step-record.ts";
import type { Task } from "./generated/task.ts";
import type { BatchMember, ExampleMetrics, LeftOut, TrainStepResult } from "./ledger.ts";
import type { SpokenMessage, ToolCall } from "./message.ts";
import type { Score } from "./reward.ts";
import type { GroupCursor, GroupPlace, TrajectorySummary } from "./rollout.ts";
import type { EvaluationRecord, StopReason, TrainingProgress } from "./run.ts";
import type { RunSettings } from "./run-settings.ts";
import type { ContinueAgentInput, ContinueAgentResult, RunAgentInput, RunAgentResult } from "./session.ts";
import type { ServerStep } from "./trainer.ts";
import type {
  Origin,
  Outcome,
  RewardRange,
  SegmentRef,
  TaskSet,
  TaskSource,
  TokenCounts,
  TrajectoryInput,
  TrajectoryPlace,
  Unrecorded,
} from "./trajectory.ts";

/**
 * The task of a trajectory, or its source if the worker that runs the activity can read it. With a source, the activity
 * is a local activity of the trajectory's workflow.
 */
export type GivenTask = { task: Task } | { source: TaskSource };

/** A message that a person wants to add to a trajectory. */
export interface FrameMessageInput {
  run: string;
  message: SpokenMessage;
}

/** The number of tokens that the message will have. */
export interface FrameMessageResult {
  tokens: number;
}

/** A tool call of a trajectory. The activity's type is the tool's name. */
export interface CallToolInput {
  place: TrajectoryPlace;
  turn: number;
  call: number;
  /** Set for tools that have state or whose calls are answered from recordings. */
  task?: Task | undefined;
  arguments: ToolCall["arguments"];
  /** The tool holds state from an earlier call of the trajectory. Default false. */
  continues?: boolean | undefined;
  /** Folder of the run whose recorded results answer the call. If absent, the tool is called. */
  recordings?: string | undefined;
  /** Milliseconds that the tool may work on the call. After that the activity throws TIME_LIMIT_REACHED. */
  timeLimit?: number | undefined;
  /** A person approved the call, perhaps with other arguments. */
  approval?: Approval["decision"] | undefined;
  /** A person's answer, if the call is a question. */
  answer?: string | undefined;
  /** The agent loop makes the call for itself. */
  byLoop?: true | undefined;
  /** Nobody has answered the question yet. The activity checks its arguments, and a person answers it later. */
  isUnasked?: true | undefined;
  /** The worker that holds the tool's state and did not take the call. */
  silent?: SilentWorker | undefined;
}

/** A worker that did not take a request from its own queue. */
export interface SilentWorker {
  queue: string;
  /** How long the workflow waited for it. */
  ms: number;
}

/** The call is a question that a person can be asked. */
export interface Askable {
  isAskable: true;
}

/** Another worker holds the tool's state. Its queue is named here. */
export interface HeldElsewhere {
  heldBy: string;
}

/**
 * A tool's answer. `valid` is false if the arguments violate the tool's schema, or if the tool rejected the call
 * (`invalid`).
 */
export interface CallToolResult {
  observation: string;
  valid: boolean;
  /** Why the tool rejected the call. */
  invalid?: string;
  /** The tool reported that the task is finished. */
  done?: boolean;
  reward: number;
  attempts: number;
  /** Time of the execution that answered, without waits for its turn, its host or its instance. */
  seconds: number;
  /** The own queue of the worker that holds the tool's state now, if another worker received the call. */
  holder?: string;
}

/** A trajectory that has ended. */
export interface EndedTrajectory {
  place: TrajectoryPlace;
  task: Task;
  /** The number of its turns in the journal. */
  turns: number;
  /** The number of calls in its last turn, answered or not. */
  calls: number;
  head: SegmentRef | null;
  /** The version that the trajectory started with. */
  policyVersion: number;
  tokens: TokenCounts;
  /** When the trajectory began, milliseconds since 1970. */
  startedAt: number;
  /** Calls of its last turn that are not in the journal yet. */
  refused?: Unrecorded[];
  /** Set for a fork. */
  origin?: Origin;
}

/** A finished trajectory to score and record. */
export type ScoreInput = Omit<EndedTrajectory, "task"> &
  GivenTask & {
    outcome: Outcome;
    /** The answer that its agent returned. */
    answer?: string;
  };

/** A group whose trajectories have ended, to score and record. */
export interface ScoreGroupInput {
  run: string;
  group: GroupPlace;
  source: TaskSet;
  /** The members that its group rewards compare: scored trajectories that were not left out. */
  finished: number[];
}

/** The total score of a member of a group, or why it does not have one. */
export type MemberScore = { sample: number } & (Earned | { failure: string });

/** A trajectory whose workflow could not report its progress. Its turns, head and tokens are read from the journal. */
export type Lost = Omit<EndedTrajectory, "turns" | "calls" | "head" | "tokens" | "refused">;

/** An ended trajectory that names its task's source instead of holding the task. */
type Named<Ended> = Omit<Ended, "task"> & { source: TaskSource };

/** A trajectory to record that infrastructure failures ended. */
export type RecordLeftOutInput = (Named<EndedTrajectory> | Named<Lost>) & { failure: string };

/** Asks for the run's plan and progress. A workflow that continued as new already has its progress. */
export interface OpenRunInput {
  run: string;
  knowsProgress: boolean;
}

/** The result of the run's first activity. */
export interface OpenRunResult {
  settings: RunSettings;
  /** The run's progress, read from the records on disk. Set for a new run, and for one whose workflow was lost. */
  progress?: TrainingProgress;
}

/** Asks to end the run's shards that began before a time (ISO 8601). */
export interface EndShardsInput {
  run: string;
  before: string;
}

/** Asks for the results of trajectories that have ended. Those without a turn get `policyVersion`. */
export interface ReadEndedInput {
  run: string;
  trajectories: string[];
  policyVersion: number;
}

/** Tasks that replace others in a step. */
export interface Replacement {
  /** The round of sampling. The step's first tasks are round 1. */
  round: number;
  count: number;
  /** The ids of the tasks of all rounds before. */
  drawn: string[];
}

/** Asks for the ids of the tasks of a step, of their replacements, or of an evaluation on the first `limit` tasks. */
export interface DrawTasksInput {
  run: string;
  step: number;
  replacement?: Replacement;
  evaluation?: { source: TaskSet; limit?: number };
}

/** Asks to reserve the trajectories of groups that are about to start. */
export interface ReserveGroupsInput {
  run: string;
  groups: GroupPlace[];
  source: TaskSet;
}

/** Asks to start the trajectories of a shard and to wait until they have ended. */
export interface RunMembersInput {
  run: string;
  /** The input of each trajectory, without its place. */
  common: Omit<TrajectoryInput, "place">;
  trajectories: { place: TrajectoryPlace; line: string }[];
  /** The most concurrent trajectories. */
  concurrency: number;
  /** The version of the workflow code that they run on. Absent without worker deployments. */
  version?: { deploymentName: string; buildId: string };
}

/** A trajectory of a shard that has ended: its result, or the failure that ended its workflow. */
export type ClosedMember =
  | { trajectory: string; result: TrajectorySummary }
  | { trajectory: string; failure: LostWorkflow };

/** Reports trajectories that have ended to the execution of the shard that asked for them. */
export interface ClosedSignal {
  execution: string;
  closed: ClosedMember[];
}

/** The name of that signal. */
export const trajectoriesClosedSignal = "trajectories-closed";

/** Why a trajectory's workflow has no result: somebody terminated it, or its loop did not return. */
export interface LostWorkflow {
  type: "terminated" | "LOOP_STUCK";
  message: string;
}

/** Asks for the task of a trajectory. */
export interface LoadTaskInput {
  place: TrajectoryPlace;
  source: TaskSource;
}

/** Supervised steps from `from` up to but not including `to` of the warm start. The last slice publishes version 1. */
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
  /** Set if a training server trained the slice. */
  server?: ServerStep;
}

/** A trajectory's total reward. */
export interface Earned extends Pick<Score, "reward" | "success"> {
  /** Set if the trainer compares turns. */
  turnRewards?: RewardRange;
}

/** A policy-gradient step from `policyVersion` to the next one. */
export interface TrainStepInput {
  run: string;
  step: number;
  policyVersion: number;
  batch: BatchMember[];
  /** The fewest members that a group may have. */
  minGroup: number;
  /** Trajectories that the step was offered and does not train on. */
  leftOut: LeftOut[];
  /** Set in an asynchronous run. */
  cursor?: GroupCursor;
}

/** A step on demonstrations or pairs, from `policyVersion` to the next one. */
export type TrainExamplesInput = Pick<TrainStepInput, "run" | "step" | "policyVersion">;

/** Makes a version the one that generates actions. */
export interface PublishPolicyInput {
  run: string;
  policyVersion: number;
}

/** A line of `metrics.jsonl`. */
export interface RecordStepInput {
  run: string;
  record: StepRecord;
  /** The ids of the finished trajectories whose metrics are averaged. */
  finished: string[];
  /**
   * When rollout, training and publishing began, and when all was done, in ms; without the first for a step on examples.
   * Absent in workflows of earlier releases.
   */
  clock?: number[];
}

/** The result of an evaluation to record. */
export interface RecordEvaluationInput {
  run: string;
  record: EvaluationRecord;
  /** When it began, in ms. Absent in workflows of earlier releases. */
  started?: number;
}

/** Activities of the queue `policy`. */
export interface PolicyActivities {
  "initialize-policy"(input: { run: string }): Promise<{ policyVersion: number }>;
  "generate-turn"(input: GenerateTurnInput): Promise<GenerateTurnResult>;
  "frame-message"(input: FrameMessageInput): Promise<FrameMessageResult>;
  "publish-policy"(input: PublishPolicyInput): Promise<{ seconds: number }>;
}

/** Activities of the queue `tools`. There is also one for each tool, named after it. */
export interface ToolActivities {
  "score-trajectory"(input: ScoreInput): Promise<Earned>;
  /** Runs the agent of a trajectory whose loop waits for its requests. */
  "run-agent"(input: RunAgentInput): Promise<RunAgentResult>;
  /** Waits for the next request of an agent that this worker runs. A local activity. */
  "continue-agent"(input: ContinueAgentInput): Promise<ContinueAgentResult>;
  /** Ends an agent that this worker runs. A local activity. */
  "end-agent"(input: { trajectory: string }): Promise<void>;
  /** Scores each finished trajectory. */
  "score-group"(input: ScoreGroupInput): Promise<MemberScore[]>;
  /** Releases the tools that this worker holds and returns the queues of other workers that hold some. */
  "release-tools"(input: {
    place: TrajectoryPlace;
    tools: string[];
  }): Promise<Record<string, string> | undefined>;
}

/** Activities of the queue `trainer`. */
export interface TrainerActivities {
  "warm-start"(input: WarmStartInput): Promise<WarmStartResult>;
  "train-step"(input: TrainStepInput): Promise<TrainStepResult>;
  /** The same, by a trainer that shares the step with the one that takes `train-step`. */
  "join-step"(input: TrainStepInput): Promise<TrainStepResult>;
  "train-examples"(input: TrainExamplesInput): Promise<TrainStepResult<ExampleMetrics>>;
}

/** Activities of the queue `orchestration`: the run's files. */
export interface RunActivities {
  "open-run"(input: OpenRunInput): Promise<OpenRunResult>;
  "end-shards"(input: EndShardsInput): Promise<void>;
  "read-ended"(input: ReadEndedInput): Promise<TrajectorySummary[]>;
  "draw-tasks"(input: DrawTasksInput): Promise<string[]>;
  "reserve-groups"(input: ReserveGroupsInput): Promise<string[]>;
  /** Returns the trajectories that it has not reported to the shard by signal. */
  "run-trajectories"(input: RunMembersInput): Promise<ClosedMember[]>;
  "load-task"(input: LoadTaskInput): Promise<Task>;
  "record-left-out"(input: RecordLeftOutInput): Promise<void>;
  /** Returns the condition of the plan's `stopIf` that holds after the step, if any does. */
  "record-step"(input: RecordStepInput): Promise<StopReason | undefined>;
  /** Returns the seconds that the evaluation took; nothing in histories of earlier releases. */
  "record-evaluation"(input: RecordEvaluationInput): Promise<number | undefined>;
}
