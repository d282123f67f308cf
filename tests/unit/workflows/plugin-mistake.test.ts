import { ActivityFailure, ApplicationFailure, RetryState } from "@temporalio/common";
import { expect, test } from "vitest";
import type { ErrorCode } from "../../../src/base/errors/table.ts";
import { mistakeIn } from "../../../workflows/plugin-mistake.ts";

/** What a workflow sees of an activity that failed with this code. */
function failed(code: ErrorCode): ActivityFailure {
  const cause = ApplicationFailure.create({ type: code, message: "what it was", nonRetryable: true });
  return new ActivityFailure("failed", "generate-turn", "1", RetryState.NON_RETRYABLE_FAILURE, "", cause);
}

test("a worker that lacks native files ends the run with what it says, for every trajectory would meet it", () => {
  expect(mistakeIn(failed("NATIVE_FILES_MISSING"))).toEqual({
    code: "NATIVE_FILES_MISSING",
    message: "what it was",
  });
});

test("a tool that gave up ends its trajectory alone", () => {
  expect(mistakeIn(failed("TOOL_GAVE_UP"))).toBeUndefined();
});
