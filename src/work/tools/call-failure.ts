import { isEverturnError } from "../../base/errors/everturn-error.ts";
import type { ErrorCode } from "../../base/errors/table.ts";

/** A failure of the infrastructure of a tool, a reward manager or an agent, with its kind and its reason. */
export interface ServiceFailure {
  code: ErrorCode;
  reason: string;
}

/** Returns the failure of a service that failed or did not answer. Undefined for any other error. */
export function callFailure(error: unknown): ServiceFailure | undefined {
  if (!isEverturnError(error)) return undefined;
  const { code, params } = error;
  switch (code) {
    case "TOOL_FAILED":
    case "REWARD_FAILED":
    case "AGENT_FAILED":
      return { code, reason: String(params.reason) };
    case "TOOL_TIMED_OUT":
    case "REWARD_TIMED_OUT":
      return { code, reason: `no answer within ${params.seconds} s` };
    default:
      return undefined;
  }
}
