import type { Approval } from "./approval.ts";
import type { FormatName } from "./format-name.ts";
import type { Call, Turn } from "./generated/trajectory.ts";
import type { JsonObject } from "./json.ts";
import type { Message, SpokenMessage, ToolDefinition } from "./message.ts";
import type { SamplingParameters } from "./policy.ts";

/**
 * How a trajectory ended. `done`: a tool said that there is nothing more to do. A limit is a failure of the model: it is scored as it is. `left-out`: its infrastructure
 * failed past its budget, it trains no step.
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

/** A call that no tool was asked for: unreadable, or of a tool that there is not. */
export interface RefusedCall {
  turn: number;
  call: number;
  tool: string;
  arguments: Call["arguments"];
  observation: string;
  /** The tool was not asked because a person denied the call, or nobody approved it in time. */
  approval?: Approval["decision"];
  /** An agent made the call itself, and this came of it. */
  valid?: true;
  /** How often the agent tried it and how long it took, where it keeps what it makes. */
  attempts?: number;
  seconds?: number;
  /** The loop made it for itself. */
  byLoop?: true;
}

/** Retry policy of a tool's activity, in milliseconds. */
export interface RetrySettings {
  maximumAttempts: number;
  initialInterval: number;
  backoffCoefficient: number;
  maximumInterval: number;
}

/** A function of a tool as the trajectory workflow needs it. */
export interface ToolBinding {
  definition: ToolDefinition;
  /** The tool that it is of, which holds the state; its own name if absent. */
  tool?: string;
  retry: RetrySettings;
  /** Milliseconds for one attempt. */
  timeout: number;
  /** The tool holds state that must be released at the trajectory's end. */
  stateful: boolean;
  /** What becomes of that state when its worker dies. Absent where there is no state. */
  recovery?: "snapshot" | "replay" | "fail";
  /** Folder of the run whose recorded results answer the calls; the tool is called if absent. */
  recordings?: string;
  /** The tool only computes: no network, files, processes or state. */
  pure: boolean;
  /** Each call waits until a person decides about it, `timeout` milliseconds at most. */
  approval?: { timeout?: number; whom?: string };
  /** Agent loops call it: the policy is not told of it, unless its loop says so. */
  forLoops?: true;
  /** Its calls are questions, which wait until a person answers. Then `approval` says for how long, and who. */
  person?: true;
}

/** The reward manager as the trajectory workflow needs it. */
export interface RewardBinding {
  retry: RetrySettings;
  /** It only computes. */
  pure: boolean;
}

/** The rewards of a plan: those of trajectories, and those of groups, if there are any. */
export interface RewardBindings extends RewardBinding {
  group?: RewardBinding;
}

/** The place of a trajectory in its run. */
export interface TrajectoryPlace {
  /** `run/stage/task/sample`: the workflow's id, and the root of its idempotency keys. */
  id: string;
  run: string;
  /** `step-0003`, or `evaluation-0001` and the like. */
  stage: string;
  step: number;
  task: string;
  sample: number;
}

/** What ends a trajectory before its loop does; what is absent has no bound. Times in milliseconds of work. */
export interface Limits {
  turns?: number;
  /** Tokens of the whole trajectory: prompt, actions and observations. */
  tokens?: number;
  /** Of one turn: its generation and its tool calls. */
  turnTime?: number;
  time?: number;
  /** Calls in a row that were not valid. */
  invalidCalls?: number;
}

/** The first turns of a trajectory and its newest ones, cut at a bound. */
export interface Shown {
  first: Turn[];
  newest: Turn[];
}

/** What orders left behind when a trajectory continues as new. */
export interface CarriedOrders {
  paused?: { reason?: string };
  messages: SpokenMessage[];
}

/** A turn, and how many calls it began. */
export interface Begun {
  turn: number;
  calls: number;
}

/** A conversation of a trajectory. */
export interface Conversation {
  /** Its newest action; null before the first. */
  head: SegmentRef | null;
  /** What its next action follows. */
  pending: Message[];
  /** How many calls the trajectory had had when its newest turn ended: what templates number answers by. */
  calls: number;
  /** Its newest turn; absent before the first, and where that is the trajectory's newest. */
  newest?: Begun;
}

/**
 * What has come of a trajectory: counts and references, of a size that does not grow with its turns. A trajectory
 * carries it when it continues as new; the turns themselves are in the run's folder.
 */
export interface TrajectoryProgress {
  /** Milliseconds since 1970. */
  startedAt: number;
  /** Milliseconds that its turns took, which `limits.time` bounds: generation and tools, as their activities measured. */
  workedMs: number;
  /** Actions generated so far. */
  turns: number;
  head: SegmentRef | null;
  tokens: TokenCounts;
  generationSeconds: number;
  /** The oldest and the newest version that generated a turn; null before the first. */
  policyVersions: { oldest: number; newest: number } | null;
  /** What the next action follows: observations, and what people said. Before the first one stands the prompt. */
  pending: Message[];
  toolCalls: number;
  validCalls: number;
  /** How many of the newest calls, in a row, were not valid. */
  invalidInARow: number;
  /** How many calls the newest turn has begun. */
  calls: number;
  /** Where the conversation with the task's user stands, once a sub-agent has had an action: `head` is the newest of all. */
  main?: Pick<Conversation, "head" | "calls" | "newest">;
  /** The conversations of the loop's sub-agents, by name. */
  agents?: Record<string, Conversation>;
  /** Calls that the journal does not hold yet: the next activity writes them down. */
  refused: RefusedCall[];
  /** Functions that were called, and the tools among theirs that hold state. */
  toolsUsed: string[];
  toolsHolding: string[];
  /** The own queues of the workers that hold it, by tool, once they are known. */
  holders?: Record<string, string>;
  /** The agent loop's own notes. */
  loopState: JsonObject;
  /** What people ordered. */
  orders: CarriedOrders;
  shown: Shown;
}

/** Where a fork comes from: the first `turns` turns of another trajectory, answered from the copy of its journal. */
export interface Origin {
  trajectory: string;
  turns: number;
  temperature: number;
  seed: number;
  /** A policy that is none of the run's versions generates its own turns. */
  policyFolder?: string;
}

/** A set of tasks: of the plan, or a file. A task's id names its row. */
export type TaskSet = "training" | "validation" | { file: string };

/** Where a trajectory's task stands: in a set, or in the record of another trajectory. */
export type TaskSource = TaskSet | { trajectory: string };

/** An agent loop as the trajectory workflow needs it. */
export interface LoopBinding {
  plugin: string;
  config: JsonObject;
  /** Functions that the policy may call. Absent: all but those that are for loops. */
  tools?: string[];
}

/** What the trajectory workflow is started with. Its task is named by its place; it reads it itself. */
export interface TrajectoryInput {
  place: TrajectoryPlace;
  source: TaskSource;
  policyVersion: number;
  seed: number;
  sampling: SamplingParameters;
  loop: LoopBinding;
  /** Loops that tasks name by `agent_name`; `loop` is that of the others. */
  loops?: Record<string, LoopBinding>;
  /** How actions are written; hermes if absent. */
  format?: FormatName;
  tools: ToolBinding[];
  reward: RewardBinding;
  queues: Queues;
  /** Turns take less time than their way through the server. */
  quickTurns: boolean;
  /** Each turn is generated by the newest version, not all by `policyVersion`. */
  newest: boolean;
  limits: Limits;
  /** From where it goes on; absent at its start. */
  progress?: TrajectoryProgress;
  /** Of a fork. */
  origin?: Origin;
  /** Of a fork: what people said to the original before the first turn that the fork takes itself. */
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

/** The least and the most that a turn of a trajectory earned; what the reward manager gave is the last one's. */
export interface RewardRange {
  least: number;
  most: number;
}

/** What the trajectory workflow returns: of a size that does not grow with its turns. */
export interface TrajectoryResult {
  trajectory: string;
  task: string;
  outcome: Outcome;
  reward: number;
  /** Where the trainer compares turns. */
  turnRewards?: RewardRange;
  success: boolean;
  /** The first turns and the newest ones, cut at a bound, so that the UI shows them. */
  turns: Turn[];
  /** How many turns there were. */
  turnCount: number;
  /** The last segment; the chain of `previous` refs holds the whole trajectory, token by token. */
  head: SegmentRef | null;
  /** The oldest version that generated a turn, and the newest. */
  policyVersion: number;
  newestPolicyVersion: number;
  tokens: TokenCounts;
  /** Time that generating took, all turns together. */
  generationSeconds: number;
  toolCalls: number;
  validCalls: number;
  /** Why it was left out. */
  failure?: string;
  /** It was left out for a mistake in a plugin, which ends the run: a code of the error table, and its message. */
  mistake?: { code: string; message: string };
}
