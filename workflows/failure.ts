import { ApplicationFailure } from "@temporalio/workflow";
import { type ErrorParams, EverturnError } from "../src/base/errors/everturn-error.ts";
import type { ErrorCode } from "../src/base/errors/table.ts";

/**
 * Returns a failure from the error table that ends the workflow. A plain Error would retry the workflow task
 * forever.
 */
export function failure<Code extends ErrorCode>(code: Code, params: ErrorParams<Code>): ApplicationFailure {
  const error = new EverturnError(code, params);
  const { message, retryable } = error;
  return ApplicationFailure.create({ type: code, message, nonRetryable: !retryable, details: [params] });
}
