import { ApplicationFailure } from "@temporalio/common";
import { defined } from "../../base/records/defined.ts";

/** Causes and lines of their stacks that a failure keeps. */
const kept = { causes: 3, lines: 3 };

/**
 * Returns the failure of an activity for an error of the table, with its code as the type. Temporal's server shows a
 * failure above 4 KiB as "Failure exceeds size limit" while it retries the activity, so causes lose most of their
 * stacks.
 */
export function activityFailure(error: Error & { code: string; retryable: boolean }): ApplicationFailure {
  const failure = ApplicationFailure.create(
    defined({
      type: error.code,
      message: error.message,
      nonRetryable: !error.retryable,
      cause: error.cause instanceof Error ? shortened(error.cause, kept.causes) : undefined,
    }),
  );
  failure.stack = stackOf(error);
  return failure;
}

function shortened(error: Error, causes: number): Error {
  const copy = new Error(error.message);
  copy.name = error.name;
  copy.stack = stackOf(error);
  if (error.cause instanceof Error && causes > 1) copy.cause = shortened(error.cause, causes - 1);
  return copy;
}

/** The first calls of a stack, without the message before them. */
function stackOf({ name, stack = "" }: Error): string {
  const calls = stack.split("\n").filter((line) => line.startsWith("    at "));
  return [name, ...calls.slice(0, kept.lines)].join("\n");
}
