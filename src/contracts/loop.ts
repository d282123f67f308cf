import type { Task } from "./generated/task.ts";
import type { JsonObject } from "./json.ts";
import type { SpokenMessage, ToolCall, ToolDefinition } from "./message.ts";
import type { ParsedAction } from "./parsed-action.ts";
import type { Outcome } from "./trajectory.ts";

/** An action as the agent loop sees it. */
export interface Action {
  text: string;
  finishReason: "stop" | "length";
}

/** What comes back from a tool call, or what the loop tells the model about a call it could not make. */
export interface Observation {
  tool: string;
  text: string;
  /** False when the model called wrongly: unreadable call, unknown tool, arguments against the schema, or what the tool forbids. */
  valid: boolean;
  /** The tool said that there is nothing more to do: the trajectory ends after this turn, unless the loop ends it otherwise. */
  done?: boolean;
}

/** A request of an agent: what it asks is between it and the trajectory. */
export interface AgentRequest {
  key: string;
}

/**
 * Another conversation with the policy in the same trajectory: rows of their own, which are trained on with its reward. Its
 * actions are turns like others.
 */
export interface SubAgent {
  /** Generates the turn's action in this conversation: at first after its prompt, later after what was appended and said to it. */
  generate(): Promise<Action>;
  /** Appends observations to it. */
  append(observations: Observation[]): void;
  /** Says something more to it, as its user. */
  say(text: string): void;
}

/** How a sub-agent's conversation begins. */
export interface SubAgentOptions {
  /** What stands before its first action. */
  prompt: SpokenMessage[];
  /** Functions that its prompt names. Default: those of the loop. */
  tools?: string[];
}

/** What an agent loop can do in a turn of a trajectory workflow. Each of these is durable. */
export interface LoopContext {
  /** Reads the task: a loop that does without it saves that. */
  task(): Promise<Task>;
  /** What the policy may call. */
  tools: ToolDefinition[];
  config: JsonObject;
  /** The turn's number, from 1. */
  turn: number;
  /** The loop's own notes, `{}` at first: kept from turn to turn, and in every history, so keep them small. */
  state: JsonObject;
  /**
   * Waits for the next request of the agent whose conversation the trajectory is; undefined when the agent has ended. The agent
   * is started when it is first waited for.
   */
  nextRequest(): Promise<AgentRequest | undefined>;
  /**
   * Generates the turn's action after everything appended so far, or what a request asks for, which it answers; once a turn.
   */
  generate(request?: AgentRequest): Promise<Action>;
  /** What the run's action format makes of an action: what was thought, what was said, which calls it asks for. Never throws. */
  parse(action: Action): ParsedAction;
  /** Makes a call of the policy's; an unknown tool or bad arguments are answered with an observation that says so. */
  callTool(call: ToolCall): Promise<Observation>;
  /**
   * Calls a tool of the run for the loop itself, also one that the policy is not told of: `ask` asks a person. What comes back is in the
   * record, and the model reads what the loop says or appends of it. Throws LOOP_TOOL_MISSING.
   */
  useTool(name: string, parameters: JsonObject): Promise<Observation>;
  /** Waits so many milliseconds, in Temporal and in no worker; no time limit goes on meanwhile. */
  sleep(milliseconds: number): Promise<void>;
  /** The sub-agent of this name; it begins with its first action. */
  agent(name: string, options: SubAgentOptions): SubAgent;
  /** Records an observation that the loop itself makes, such as an unreadable tool call. */
  reject(call: string, reason: string): Observation;
  /** Appends observations: the next action follows them. */
  append(observations: Observation[]): void;
  /** Has the user say something more: the next action follows it. */
  say(text: string): void;
}

/**
 * The `./workflow` entry of a loop plugin: one turn, deterministic code that runs inside the trajectory workflow. It
 * says how the trajectory ended, or "continue": then it is called for the next turn.
 */
export type AgentLoop = (context: LoopContext) => Promise<Outcome | "continue">;
