import type { Denial } from "./approval.ts";
import type { FormatName } from "./format-name.ts";
import type { Call, Turn } from "./generated/trajectory.ts";
import type { JsonObject } from "./json.ts";
import type { Message, SpokenMessage, ToolDefinition } from "./message.ts";
import type { SamplingParameters } from "./policy.ts";

/**
 * How a trajectory ended. `done`: a tool reported that the task is finished. Reaching a limit is a failure of the
 * model, and the trajectory is scored unchanged. `left-out`: infrastructure failed beyond its budget, and the
 * trajectory trains no step.
 */
export type Outcome =
  | "answered"
  | "done"
  | "turn-limit"
  | "token-limit"
  | "time-limit"
  | "invalid-limit"
  | "left-out";

/** The content address (SHA-256, hex) of a segment in the trajectory store. */
export type SegmentRef = string;

/** A call that no activity made. */
interface WithoutActivity {
  turn: number;
  call: number;
  tool: string;
  arguments: Call["arguments"];
  observation: string;
  /** The loop made the call for itself. */
  byLoop?: true;
}

/** A call rejected before reaching a tool: unparsable, or naming an unknown tool. */
interface Rejected extends WithoutActivity {
  approval?: undefined;
  valid?: undefined;
}

/** A call that the tool did not receive, because a person denied it or nobody approved it in time. */
interface Denied extends WithoutActivity {
  approval: Denial["decision"];
  valid?: undefined;
}

/** A call that an agent executed itself. */
export interface Executed extends WithoutActivity {
  approval?: undefined;
  valid: true;
  /** How often the agent tried it and how long it took, if the agent's calls are recorded. */
  attempts?: number;
  seconds?: number;
}

/** A call that the journal does not contain yet. The next activity records it. */
export type Unrecorded = Rejected | Denied | Executed;

/** Retry policy of a tool's activity, in milliseconds. */
export interface RetrySettings {
  maximumAttempts: number;
  initialInterval: number;
  backoffCoefficient: number;
  maximumInterval: number;
}

/** A function of a tool, with the settings that the trajectory workflow needs. */
export interface ToolBinding {
  definition: ToolDefinition;
  /** The tool that it belongs to and that holds the state. Default: its own name. */
  tool?: string;
  retry: RetrySettings;
  /** Milliseconds per attempt. */
  timeout: number;
  /** The tool holds state that must be released when the trajectory ends. */
  stateful: boolean;
  /** What happens to that state when its worker dies. Absent if the tool has no state. */
  recovery?: "snapshot" | "replay" | "fail";
  /** Folder of the run whose recorded results answer the calls. If absent, the tool is called. */
  recordings?: string;
  /** The tool only computes: no network, files, processes or state. */
  pure: boolean;
  /** Each call waits until a person decides about it, for at most `timeout` milliseconds. */
  approval?: { timeout?: number; whom?: string };
  /** For agent loops: hidden from the policy unless a loop's `tools` list it. */
  forLoops?: true;
  /** Its calls are questions, which wait for a person's answer. `approval` sets how long, and for whom. */
  person?: true;
}

/** The reward manager, with the settings that the trajectory workflow needs. */
export interface RewardBinding {
  retry: RetrySettings;
  /** It only computes. */
  pure: boolean;
}

/** The rewards of a plan: those of trajectories and, if any, those of groups. */
export interface RewardBindings extends RewardBinding {
  group?: RewardBinding;
}

/** The place of a trajectory in its run. */
export interface TrajectoryPlace {
  /** `run/stage/task/sample`: the workflow's id, and the root of its idempotency keys. */
  id: string;
  run: string;
  /** For example `step-0003` or `evaluation-0001`. */
  stage: string;
  step: number;
  task: string;
  sample: number;
}

/** Limits that end a trajectory before its loop does. An absent limit does not apply. Times in milliseconds of work. */
export interface Limits {
  turns?: number;
  /** Tokens of the whole trajectory: prompt, actions and observations. */
  tokens?: number;
  /** Of one turn: its generation and its tool calls. */
  turnTime?: number;
  time?: number;
  /** Consecutive invalid calls. */
  invalidCalls?: number;
}

/** The first turns of a trajectory and its newest ones, up to a limit. */
export interface Shown {
  first: Turn[];
  newest: Turn[];
}

/** The orders in effect when a trajectory continues as new. */
export interface CarriedOrders {
  paused?: { reason?: string };
  messages: SpokenMessage[];
}

/** A turn, and the number of calls that it began. */
export interface Begun {
  turn: number;
  calls: number;
}

/** A conversation of a trajectory. */
export interface Conversation {
  /** Its newest action; null before the first. */
  head: SegmentRef | null;
  /** Messages that its next action follows. */
  pending: Message[];
  /** The trajectory's number of calls when the newest turn ended. Templates number answers with it. */
  calls: number;
  /** Its newest turn. Absent before the first, and if it is also the trajectory's newest. */
  newest?: Begun;
}

/**
 * The state of a trajectory in counts and references. Its size does not grow with the number of turns. A trajectory
 * carries it when it continues as new. The turns themselves are in the run folder.
 */
export interface TrajectoryProgress {
  /** Milliseconds since 1970. */
  startedAt: number;
  /**
   * Milliseconds that its turns took, which `limits.time` bounds: generation and tools, as measured by their
   * activities.
   */
  workedMs: number;
  /** Actions generated so far. */
  turns: number;
  head: SegmentRef | null;
  tokens: TokenCounts;
  generationSeconds: number;
  /** The oldest and the newest version that generated a turn; null before the first. */
  policyVersions: { oldest: number; newest: number } | null;
  /**
   * Messages that the next action follows: observations and messages from people. Before the first action they begin
   * with the prompt.
   */
  pending: Message[];
  toolCalls: number;
  validCalls: number;
  /** The number of consecutive invalid calls at the end. */
  invalidInARow: number;
  /** The number of calls that the newest turn has begun. */
  calls: number;
  /**
   * The state of the conversation with the task's user, once a sub-agent has taken a turn. `head` above is then the
   * newest of all conversations.
   */
  main?: Pick<Conversation, "head" | "calls" | "newest">;
  /** The conversations of the loop's sub-agents, by name. */
  agents?: Record<string, Conversation>;
  /** Calls that are not in the journal yet. The next activity records them. */
  refused: Unrecorded[];
  /** Functions that were called, and their tools that hold state. */
  toolsUsed: string[];
  toolsHolding: string[];
  /** By tool: the own queue of the worker that holds its state, once known. */
  holders?: Record<string, string>;
  /** The agent loop's own state. */
  loopState: JsonObject;
  /** The orders in effect. */
  orders: CarriedOrders;
  shown: Shown;
}

/** The origin of a fork: the first `turns` turns of another trajectory, which a copy of its journal answers. */
export interface Origin {
  trajectory: string;
  turns: number;
  temperature: number;
  seed: number;
  /** Folder of the policy that generates the fork's own turns, if it is not one of the run's versions. */
  policyFolder?: string;
}

/** A set of tasks: one of the plan's, or a file. A task's id names its row. */
export type TaskSet = "training" | "validation" | { file: string };

/** The source of a trajectory's task: a set, or another trajectory's record. */
export type TaskSource = TaskSet | { trajectory: string };

/** An agent loop, with the settings that the trajectory workflow needs. */
export interface LoopBinding {
  plugin: string;
  config: JsonObject;
  /** Functions that the policy may call. Default: all except those for loops. */
  tools?: string[];
}

/** The settings of a plan that each trajectory needs. */
export interface GenerationSettings {
  seed: number;
  sampling: SamplingParameters;
  limits: Limits;
  loop: LoopBinding;
  /** Loops that tasks name by `agent_name`. All other tasks use `loop`. */
  loops?: Record<string, LoopBinding>;
  /** The format of actions. Default: hermes. */
  format?: FormatName;
  tools: ToolBinding[];
  reward: RewardBinding;
}

/** The input of the trajectory workflow. It reads its task, which its place names. */
export interface TrajectoryInput extends GenerationSettings {
  place: TrajectoryPlace;
  source: TaskSource;
  policyVersion: number;
  queues: Queues;
  /** Turns take less time than a round trip through the server. */
  quickTurns: boolean;
  /** Each turn is generated by the newest version. Otherwise `policyVersion` generates all of them. */
  newest: boolean;
  /** The state to continue from. Absent at the start. */
  progress?: TrajectoryProgress;
  /** Set for a fork. */
  origin?: Origin;
  /** For a fork: messages that people sent to the original before the first turn that the fork takes itself. */
  said?: SpokenMessage[];
}

/** Task queues by worker role. */
export interface Queues {
  orchestration: string;
  policy: string;
  tools: string;
  trainer: string;
}

/** Numbers of tokens by origin. */
export interface TokenCounts {
  prompt: number;
  action: number;
  observation: number;
}

/** The lowest and the highest reward of a trajectory's turns. The last turn includes the reward manager's score. */
export interface RewardRange {
  least: number;
  most: number;
}

/** The result of the trajectory workflow. Its size does not grow with the number of turns. */
export interface TrajectoryResult {
  trajectory: string;
  task: string;
  outcome: Outcome;
  reward: number;
  /** Set if the trainer compares turns. */
  turnRewards?: RewardRange;
  success: boolean;
  /** The first turns and the newest ones, up to a limit, for the UI. */
  turns: Turn[];
  /** The total number of turns. */
  turnCount: number;
  /** The last segment. The chain of its `previous` refs holds the whole trajectory, token by token. */
  head: SegmentRef | null;
  /** The oldest version that generated a turn, and the newest. */
  policyVersion: number;
  newestPolicyVersion: number;
  tokens: TokenCounts;
  /** Time spent generating, all turns together. */
  generationSeconds: number;
  toolCalls: number;
  validCalls: number;
  /** Why it was left out. */
  failure?: string;
  /** The plugin bug for which it was left out, and which ends the run: a code of the error table, and its message. */
  mistake?: { code: string; message: string };
}
