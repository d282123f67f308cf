import type { Message, SpokenMessage, ToolDefinition } from "./message.ts";
import type { ReadAction } from "./parsed-action.ts";
import type { SamplingParameters } from "./policy.ts";
import type { RecordedRequest, SessionRequest } from "./session.ts";
import type {
  Begun,
  SegmentRef,
  TaskSource,
  TokenCounts,
  TrajectoryPlace,
  Unrecorded,
} from "./trajectory.ts";

/** The properties that every kind of turn has. */
interface AnyInput {
  place: TrajectoryPlace;
  turn: number;
  policyVersion: number;
  /** The newest published version generates the action. It is at least `policyVersion`. */
  newest?: boolean | undefined;
  /** Folder of a policy that generates the action instead of one of the run's versions. */
  policyFolder?: string | undefined;
  sampling: SamplingParameters;
  seed: number;
  /** Most tokens that the trajectory may have, all turns together. */
  tokenLimit?: number | undefined;
  /** Milliseconds that the policy may work on the action. After that the activity throws TIME_LIMIT_REACHED. */
  timeLimit?: number | undefined;
  /** The number of calls that the previous turn began; 0 at the first turn. */
  callsBefore: number;
  /** Calls of the previous turn that are not in the journal yet. */
  refused?: Unrecorded[] | undefined;
  /** Messages to append before the action. */
  messages: Message[];
  /** The messages among `messages` that people sent, for the journal. */
  said?: SpokenMessage[] | undefined;
  /** The sub-agent whose turn it is. */
  agent?: string | undefined;
  /** Names of the functions that the policy may call. Default: all functions of the run's tools. */
  offered?: string[] | undefined;
}

/** The first turn of a conversation: it begins with a prompt. */
export type FirstInput = AnyInput & {
  head: null;
  request?: undefined;
  /** Tools that the prompt lists. */
  tools: ToolDefinition[];
} & PromptInput;

/**
 * Where the prompt is. `source` names the task whose prompt the activity reads and puts before `messages`. `promptOf`
 * names the task whose prompt `messages` begin with. Neither is set for a sub-agent's prompt, nor in inputs of 0.4.0.
 */
type PromptInput =
  | { source: TaskSource; promptOf?: undefined }
  | { source?: undefined; promptOf?: TaskSource };

/** A later turn of a conversation. It appends observations and messages from people. */
export interface NextInput extends AnyInput {
  /** The segment that it follows. */
  head: SegmentRef;
  request?: undefined;
  /** The number of calls in the conversation so far, including those that `messages` answer. */
  callsSoFar: number;
  /** The turn whose calls `messages` answer. Default: the previous turn. */
  answers?: Begun | undefined;
}

/** A turn of the trajectory's agent. It answers a request, whose messages precede `messages`. */
export interface AgentInput extends AnyInput {
  /** The segment that the request continues; null if it begins a row. */
  head: SegmentRef | null;
  request: RecordedRequest & Pick<SessionRequest, "callIds" | "tools">;
  /** The number of calls in the conversation so far. */
  callsSoFar: number;
}

/** Asks for the next action of a trajectory. The kinds of turns differ in `request` and `head`. */
export type GenerateTurnInput = FirstInput | NextInput | AgentInput;

/** An input that 0.4.0 scheduled: a later turn without `callsSoFar`. */
export type EarlierInput = Omit<NextInput, "callsSoFar"> & { callsSoFar?: undefined };

/** The action, and the address of its segment. */
export interface GenerateTurnResult {
  action: string;
  finishReason: "stop" | "length";
  head: SegmentRef;
  policyVersion: number;
  tokens: TokenCounts;
  /** How many observations before the action were cut at their token limit. Default: 0. */
  cutObservations?: number;
  seconds: number;
  /** Time in which the policy worked, without waits for room, weights or the disk. */
  workSeconds: number;
  /** Messages that people sent before the action. */
  said?: SpokenMessage[];
  /** The sub-agent whose turn it is. */
  agent?: string;
  /** The task's prompt, if the activity read it. */
  prompt?: Message[];
  /**
   * The parts of the action that the run's expression found or the policy returned. Absent if the run's format parses
   * the text.
   */
  read?: ReadAction;
  /** Set if the recorded turn answered another request of the agent than the one in the input: that request. */
  answered?: { key: string; takesCalls?: false | undefined };
}
