import type { Message, SpokenMessage, ToolDefinition } from "./message.ts";
import type { ReadAction } from "./parsed-action.ts";
import type { SamplingParameters } from "./policy.ts";
import type { RecordedRequest, SessionRequest } from "./session.ts";
import type {
  Begun,
  RefusedCall,
  SegmentRef,
  TaskSource,
  TokenCounts,
  TrajectoryPlace,
} from "./trajectory.ts";

/** What every turn asks of the policy. */
interface AnyInput {
  place: TrajectoryPlace;
  turn: number;
  policyVersion: number;
  /** The newest published version generates, at least `policyVersion`. */
  newest?: boolean | undefined;
  /** A policy that is none of the run's versions generates. */
  policyFolder?: string | undefined;
  sampling: SamplingParameters;
  seed: number;
  /** Tokens that the trajectory may come to have, all turns together. */
  tokenLimit?: number | undefined;
  /** Milliseconds that the policy may work on it: TIME_LIMIT_REACHED after that. */
  timeLimit?: number | undefined;
  /** How many calls the turn before began; 0 at the first one. */
  callsBefore: number;
  /** Calls of the turn before that the journal does not hold yet. */
  refused?: RefusedCall[] | undefined;
  /** What is appended before the action. */
  messages: Message[];
  /** Those of `messages` that people said, for the journal. */
  said?: SpokenMessage[] | undefined;
  /** The sub-agent whose turn it is. */
  agent?: string | undefined;
  /** What the policy may call, by name; all functions of the run's tools if absent. */
  offered?: string[] | undefined;
}

/** The first turn of a conversation: it begins with a prompt. */
export type FirstInput = AnyInput & {
  head: null;
  request?: undefined;
  /** Tools named in the prompt. */
  tools: ToolDefinition[];
} & PromptInput;

/**
 * Where the prompt is. `source` names the task whose prompt the activity reads and puts before `messages`; `promptOf`
 * the task whose prompt they begin with. Neither is set for a sub-agent's prompt, nor in inputs of 0.4.0.
 */
type PromptInput =
  | { source: TaskSource; promptOf?: undefined }
  | { source?: undefined; promptOf?: TaskSource };

/** A later turn of a conversation: it appends observations, and what people said. */
export interface NextInput extends AnyInput {
  /** The segment that it follows. */
  head: SegmentRef;
  request?: undefined;
  /** How many calls the conversation has had, those that `messages` answer among them. */
  callsSoFar: number;
  /** The turn whose calls `messages` answer; absent: the turn before. */
  answers?: Begun | undefined;
}

/** A turn of the trajectory's agent: it answers a request, whose messages go before `messages`. */
export interface AgentInput extends AnyInput {
  /** The segment that the request goes on after; null where it begins a row. */
  head: SegmentRef | null;
  request: RecordedRequest & Pick<SessionRequest, "callIds" | "tools">;
  /** How many calls the conversation has had. */
  callsSoFar: number;
}

/** Asks for the next action of a trajectory. The kinds of turns differ in `request` and `head`. */
export type GenerateTurnInput = FirstInput | NextInput | AgentInput;

/** An input that 0.4.0 scheduled: a later turn without `callsSoFar`. */
export type EarlierInput = Omit<NextInput, "callsSoFar"> & { callsSoFar?: undefined };

/** The action, and where its segment lies. */
export interface GenerateTurnResult {
  action: string;
  finishReason: "stop" | "length";
  head: SegmentRef;
  policyVersion: number;
  tokens: TokenCounts;
  /** How many observations before it were cut at their limit of tokens; none if absent. */
  cutObservations?: number;
  seconds: number;
  /** Those in which the policy worked: without waits for room, weights or the disk. */
  workSeconds: number;
  /** What people said before the action. */
  said?: SpokenMessage[];
  /** The sub-agent whose turn it is. */
  agent?: string;
  /** The task's, where the activity read it. */
  prompt?: Message[];
  /** What the run's expression finds in the action, or what its policy is told apart; absent where the run's format reads its text. */
  read?: ReadAction;
}
