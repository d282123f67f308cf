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

/** A tool's answer to a call, or the loop's message to the model about a call that it could not make. */
export interface Observation {
  tool: string;
  text: string;
  /** False if the call is unparsable, names an unknown tool, violates the schema, or is not allowed by the tool. */
  valid: boolean;
  /**
   * The tool reported that the task is finished. The trajectory ends after this turn, unless the loop ends it
   * otherwise.
   */
  done?: boolean;
}

/** A request of an agent. Its content is known only to the agent and the trajectory. */
export interface AgentRequest {
  key: string;
}

/**
 * Another conversation with the policy in the same trajectory. It has its own rows, which train with the trajectory's
 * reward. Its actions are normal turns.
 */
export interface SubAgent {
  /** Generates the turn's action in this conversation, after its prompt and everything appended or said to it. */
  generate(): Promise<Action>;
  /** Appends observations to the conversation. */
  append(observations: Observation[]): void;
  /** Adds a user message to the conversation. */
  say(text: string): void;
}

/** How a sub-agent's conversation begins. */
export interface SubAgentOptions {
  /** The messages before its first action. */
  prompt: SpokenMessage[];
  /** Functions that its prompt lists. Default: those of the loop. */
  tools?: string[];
}

/** What an agent loop can use in a turn of a trajectory workflow. Every call is durable. */
export interface LoopContext {
  /** Reads the task. A loop that does not need it can skip this. */
  task(): Promise<Task>;
  /** The functions that the policy can call. */
  tools: ToolDefinition[];
  config: JsonObject;
  /** The turn's number, from 1. */
  turn: number;
  /** The loop's own state, initially `{}`. It is kept between turns and stored in every history, so keep it small. */
  state: JsonObject;
  /**
   * Waits for the next request of the trajectory's agent. Returns undefined when the agent has ended. The first call
   * starts the agent.
   */
  nextRequest(): Promise<AgentRequest | undefined>;
  /**
   * Generates the turn's action after everything appended so far, or the answer to an agent's request. Once per turn.
   */
  generate(request?: AgentRequest): Promise<Action>;
  /** Parses an action with the run's action format into thoughts, answer and calls. Never throws. */
  parse(action: Action): ParsedAction;
  /**
   * Makes a call of the policy's. For an unknown tool or bad arguments, returns an observation that explains
   * the mistake.
   */
  callTool(call: ToolCall): Promise<Observation>;
  /**
   * Calls a tool of the run for the loop itself, even one that is hidden from the policy: `ask` asks a person. The answer is
   * recorded, but the model reads only what the loop appends or says. Throws LOOP_TOOL_MISSING.
   */
  useTool(name: string, parameters: JsonObject): Promise<Observation>;
  /** Waits in Temporal, without occupying a worker. Time limits are paused meanwhile. */
  sleep(milliseconds: number): Promise<void>;
  /** Returns the sub-agent with this name. It begins with its first action. */
  agent(name: string, options: SubAgentOptions): SubAgent;
  /** Records an observation that the loop itself makes, for example for an unparsable tool call. */
  reject(call: string, reason: string): Observation;
  /** Appends observations before the next action. */
  append(observations: Observation[]): void;
  /** Adds a user message before the next action. */
  say(text: string): void;
}

/**
 * The `./workflow` entry of a loop plugin: deterministic code that runs one turn inside the trajectory workflow. It returns
 * the trajectory's outcome, or "continue" to be called for the next turn.
 */
export type AgentLoop = (context: LoopContext) => Promise<Outcome | "continue">;
