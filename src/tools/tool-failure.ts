import { isEverturnError } from "../errors/everturn-error.ts";

/** A failure of a tool's infrastructure: what it was, and why. */
export interface ToolFailure {
  code: "TOOL_FAILED" | "TOOL_TIMED_OUT";
  reason: string;
}

/** Whether the tool itself failed or did not answer; undefined for all else that ends a call. */
export function toolFailure(error: unknown): ToolFailure | undefined {
  if (!isEverturnError(error)) return undefined;
  const { code, params } = error;
  if (code === "TOOL_FAILED") return { code, reason: String(params.reason) };
  if (code === "TOOL_TIMED_OUT") return { code, reason: `no answer within ${params.seconds} s` };
  return undefined;
}
