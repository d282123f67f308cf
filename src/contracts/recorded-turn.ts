import type { GenerateTurnResult } from "./generate-turn.ts";
import type { Segment } from "./generated/segment.ts";
import type { RecordedRequest } from "./session.ts";

/** A turn as it is kept: what was appended, the action with its tokens, and how it came about. */
export interface RecordedTurn extends Omit<GenerateTurnResult, "action" | "policyVersion"> {
  /** How many calls the turn before began, answered or not: there may be gaps among their records. */
  callsBefore: number;
  /** The prompt, or the observations that came after the action before. */
  appended: Segment;
  /** It names the version that generated it. */
  action: Segment;
  /** The agent's request that it answers; absent where the loop takes the turns. */
  request?: RecordedRequest;
}
