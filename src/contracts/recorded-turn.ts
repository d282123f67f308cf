import type { GenerateTurnResult } from "./generate-turn.ts";
import type { Segment } from "./generated/segment.ts";
import type { RecordedRequest } from "./session.ts";

/** A recorded turn: the appended tokens, the action with its tokens, and how it was generated. */
export interface RecordedTurn extends Omit<GenerateTurnResult, "action" | "policyVersion"> {
  /** The number of calls that the previous turn began, answered or not. Their records may have gaps. */
  callsBefore: number;
  /** The prompt, or the observations after the previous action. */
  appended: Segment;
  /** Its segment contains the version that generated it. */
  action: Segment;
  /** The agent's request that it answers. Absent if the loop takes the turns. */
  request?: RecordedRequest;
}
