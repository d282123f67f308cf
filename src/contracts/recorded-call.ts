import type { CallToolResult } from "./activities.ts";
import type { Call } from "./generated/trajectory.ts";

/** A recorded tool call, including a call rejected before reaching a tool. */
export interface RecordedCall
  extends CallToolResult,
    Pick<Call, "tool" | "arguments" | "approval" | "media" | "whole" | "byLoop"> {
  /** The tool's metrics. */
  metrics?: Record<string, number>;
  /** The digest of the instance's state after the call. */
  snapshot?: string;
}

/** A failed execution of a call, or of a score. */
export interface Failure {
  at: string;
  attempt: number;
  code: string;
  reason: string;
  /** For a score: which of several rewards failed. */
  part?: string;
  /** It was the last attempt of its budget. If the trajectory restarts, the call gets a new budget. */
  isLast?: true;
}
