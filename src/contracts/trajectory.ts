import type { Task } from "./generated/task.ts";
import type { JsonObject } from "./json.ts";
import type { ToolDefinition } from "./message.ts";
import type { SamplingParameters } from "./policy.ts";

/** How a trajectory ended. `left-out`: its infrastructure failed past its budget, it trains no step. */
export type Outcome = "answered" | "turn-limit" | "token-limit" | "left-out";

/** The content address (SHA-256, hex) of a segment in the trajectory store. */
export type SegmentRef = string;

/** A tool call of a turn, with what came back. */
export interface ToolCallRecord {
  tool: string;
  arguments: JsonObject | string;
  observation: string;
  valid: boolean;
  attempts: number;
}

/** A turn as a person reads it. */
export interface TurnRecord {
  action: string;
  toolCalls: ToolCallRecord[];
}

/** Retry policy of a tool's activity, in milliseconds. */
export interface RetrySettings {
  maximumAttempts: number;
  initialInterval: number;
  backoffCoefficient: number;
  maximumInterval: number;
}

/** A tool as the trajectory workflow needs it. */
export interface ToolBinding {
  definition: ToolDefinition;
  retry: RetrySettings;
  /** Milliseconds for one attempt. */
  timeout: number;
  /** The tool holds state that must be released at the trajectory's end. */
  stateful: boolean;
  /** The tool only computes: no network, files, processes or state. Absent in runs of 0.1. */
  pure?: boolean;
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

/** What the trajectory workflow is started with. */
export interface TrajectoryInput {
  place: TrajectoryPlace;
  task: Task;
  policyVersion: number;
  seed: number;
  sampling: SamplingParameters;
  loop: { plugin: string; config: JsonObject };
  tools: ToolBinding[];
  queues: Queues;
  /** Turns take less time than their way through the server. */
  quickTurns?: boolean;
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

/** What the trajectory workflow returns; the turns are cut at a bound, so that the UI shows them. */
export interface TrajectoryResult {
  trajectory: string;
  task: string;
  outcome: Outcome;
  reward: number;
  success: boolean;
  turns: TurnRecord[];
  /** What the tools of each turn added to the reward; absent if nothing. */
  turnRewards?: number[];
  /** The last segment; the chain of `previous` refs holds the whole trajectory, token by token. */
  head: SegmentRef | null;
  policyVersion: number;
  tokens: TokenCounts;
  /** Time that generating took, all turns together. */
  generationSeconds: number;
  toolCalls: number;
  validCalls: number;
  /** Why it was left out. */
  failure?: string;
}
