import type { CallToolResult } from "./activities.ts";
import type { Call } from "./generated/trajectory.ts";

/** A tool call as it is kept, also one that no tool was asked for. */
export interface RecordedCall
  extends CallToolResult,
    Pick<Call, "tool" | "arguments" | "approval" | "media" | "whole" | "byLoop"> {
  /** What the tool measured. */
  metrics?: Record<string, number>;
  /** Of the instance's state after the call, by content. */
  snapshot?: string;
}

/** A failed execution of a call, or of a score. */
export interface Failure {
  at: string;
  attempt: number;
  code: string;
  reason: string;
  /** Of a score: which of several rewards failed. */
  part?: string;
  /** It was the last one of its budget: should the trajectory be begun again, the call has a new one. */
  isLast?: true;
}
