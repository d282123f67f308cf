import type { JsonValue } from "./json.ts";
import type { Message, MessageImage, ToolDefinition } from "./message.ts";
import type { ReadAction } from "./parsed-action.ts";
import type { RefusedCall, SegmentRef, TaskSource, TrajectoryPlace } from "./trajectory.ts";

/** A message as an agent sends it, whichever protocol it came by. */
export interface SessionMessage {
  role: Message["role"];
  content: string;
  /** Where the policy reads images: those that it has. */
  images?: MessageImage[] | undefined;
  name?: string | undefined;
  /** Of a tool's message: the call that it answers. */
  callId?: string | undefined;
  /** Of an assistant's message; arguments are JSON text. */
  calls?: { id: string; name: string; arguments: string }[] | undefined;
  reasoning?: string | undefined;
  /** The `instructions` of OpenAI's responses. */
  isInstructions?: true | undefined;
}

/** What an agent asks of its trajectory: the action that follows a conversation. */
export interface SessionRequest {
  /** Names it in the session: the digest of what was sent, and how often the same was sent before. */
  key: string;
  /** The turn whose action the conversation goes on after; absent where it goes on after none: a row of its own. */
  follows?: { turn: number; head: SegmentRef };
  /** What comes after that action, or the whole conversation. */
  messages: SessionMessage[];
  tools: ToolDefinition[];
  /** The agent offers no tools or wants none called: what the action writes as calls is text. Absent: it takes calls. */
  takesCalls?: false | undefined;
  /** The ids that the actions themselves gave calls, by those that the agent knows them by. */
  callIds: Record<string, string>;
  /** How many calls the conversation has had before. */
  callsBefore: number;
  /** Calls of earlier actions that the agent made itself, with their results. */
  answered: Omit<RefusedCall, "approval">[];
}

/** A call of a function of an agent whose results are kept (src/plugin/define/recorded.ts). */
export interface KeptRequest {
  name: string;
  arguments: JsonValue;
  /** The call of an action that it is made for, where the agent says so. */
  callId?: string;
}

/** What came of one: what it gave, absent where that was undefined, or what it threw. */
export type KeptOutcome = { result?: JsonValue } | { error: string };

/** A call that has ended, as it is kept. */
export interface KeptResult extends KeptRequest {
  /** Names what is called with what. */
  key: string;
  /** Which of its process's calls of this key it is, from 1. */
  occurrence: number;
  outcome: KeptOutcome;
  /** How many turns the trajectory had when it ended. */
  turns: number;
  seconds: number;
}

/** What a recorded turn says of the request that it answered. */
export interface RecordedRequest extends Pick<SessionRequest, "key" | "messages" | "takesCalls"> {
  /** The turn that it went on after; null where it began a row. */
  follows: number | null;
  /** Of one that began a row. */
  tools?: ToolDefinition[];
}

/** The action that a request was answered with. */
export interface SessionAnswer {
  turn: number;
  head: SegmentRef;
  action: string;
  finishReason: "stop" | "length";
  /** Where the policy was told apart what it thinks, says and calls. */
  read?: ReadAction | undefined;
  tokens: { prompt: number; action: number };
}

/** Asks that an agent be run to its end on a trajectory's task. */
export interface RunAgentInput {
  place: TrajectoryPlace;
  source: TaskSource;
}

/** How an agent ended. */
export interface RunAgentResult {
  /** What it said was its answer; absent if it said nothing: the newest action is. */
  answer?: string;
}
