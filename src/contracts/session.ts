import type { JsonValue } from "./json.ts";
import type { Message, MessageImage, ToolDefinition } from "./message.ts";
import type { ReadAction } from "./parsed-action.ts";
import type { Executed, SegmentRef, TaskSource, TrajectoryPlace } from "./trajectory.ts";

/** A message that an agent sent, regardless of the protocol. */
export interface SessionMessage {
  role: Message["role"];
  content: string;
  /** Its images, if the policy reads images. */
  images?: MessageImage[] | undefined;
  name?: string | undefined;
  /** For a tool's message: the call that it answers. */
  callId?: string | undefined;
  /** For an assistant's message. `arguments` is JSON text. */
  calls?: { id: string; name: string; arguments: string }[] | undefined;
  reasoning?: string | undefined;
  /** It came as the `instructions` of OpenAI's Responses API. */
  isInstructions?: true | undefined;
}

/** An agent's request for the action that follows a conversation. */
export interface SessionRequest {
  /**
   * Identifies the request in its session: the digest of its content, and how often the same content was sent before.
   */
  key: string;
  /** The turn whose action the conversation continues. Absent if it continues none and so begins a row. */
  follows?: { turn: number; head: SegmentRef };
  /** The messages after that action, or the whole conversation. */
  messages: SessionMessage[];
  tools: ToolDefinition[];
  /** The agent offers no tools, or wants none called, so calls in the action are text. Absent: it takes calls. */
  takesCalls?: false | undefined;
  /** The ids of calls in actions, by the ids that the agent knows. */
  callIds: Record<string, string>;
  /** The number of calls in the conversation so far. */
  callsBefore: number;
  /** Calls of earlier actions that the agent executed itself, with their results. */
  answered: Executed[];
}

/** A call of an agent's function whose results are recorded (src/plugin/define/recorded.ts). */
export interface KeptRequest {
  name: string;
  arguments: JsonValue;
  /** The call in an action that it belongs to, if the agent provides it. */
  callId?: string;
}

/** The outcome of a recorded call: its result (absent if undefined) or its error. */
export type KeptOutcome = { result?: JsonValue } | { error: string };

/** A recorded call that has ended. */
export interface KeptResult extends KeptRequest {
  /** Identifies the function and its arguments. */
  key: string;
  /** Its number among the process's calls with this key, from 1. */
  occurrence: number;
  outcome: KeptOutcome;
  /** The trajectory's number of turns when the call ended. */
  turns: number;
  seconds: number;
}

/** A recorded turn's part of the request that it answered. */
export interface RecordedRequest extends Pick<SessionRequest, "key" | "messages" | "takesCalls"> {
  /** The turn that it continued; null if it began a row. */
  follows: number | null;
  /** Set if it began a row. */
  tools?: ToolDefinition[];
}

/** The action that answers a request. */
export interface SessionAnswer {
  turn: number;
  head: SegmentRef;
  action: string;
  finishReason: "stop" | "length";
  /** The action's thoughts, text and calls, if the policy received them separately. */
  read?: ReadAction | undefined;
  tokens: { prompt: number; action: number };
}

/** Asks to run an agent to its end on a trajectory's task. */
export interface RunAgentInput {
  place: TrajectoryPlace;
  source: TaskSource;
}

/**
 * Asks for the next request of a trajectory's agent. The worker starts the agent unless it has started it already.
 */
export interface ContinueAgentInput extends RunAgentInput {
  /** The number of the trajectory's turns. */
  turns: number;
  /** The request that the last turn answered. */
  answered?: { key: string; answer: SessionAnswer } | undefined;
}

/** The agent's next request, or how it ended. `isBusy`: it has not asked for a while. */
export type ContinueAgentResult = { request: SessionRequest } | { ended: RunAgentResult } | { isBusy: true };

/** How an agent ended. */
export interface RunAgentResult {
  /** The answer that it returned. Absent if it returned none. Then the newest action is the answer. */
  answer?: string;
}
