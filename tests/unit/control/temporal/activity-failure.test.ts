import { ApplicationFailure, DefaultFailureConverter, defaultPayloadConverter } from "@temporalio/common";
import { temporal } from "@temporalio/proto";
import { expect, test } from "vitest";
import { EverturnError } from "../../../../src/base/errors/everturn-error.ts";
import { activityFailure } from "../../../../src/control/temporal/activity-failure.ts";

/** An error with causes as they come from an HTTP client: each has a stack of long paths. */
function deepError(causes: number): Error {
  const error = new Error(`cause ${causes}: ${"the connection ended ".repeat(5)}`);
  error.stack = `Error: ${error.message}\n${`    at call (file:///${"folder/".repeat(20)}file.ts:1:1)\n`.repeat(10)}`;
  if (causes > 1) error.cause = deepError(causes - 1);
  return error;
}

test("a failure with deep causes stays below the 4 KiB that Temporal's server shows of it", () => {
  const error = new EverturnError("RUN_FAILED", { run: "one", reason: "the server is gone" });
  error.cause = deepError(6);
  const encoded = new DefaultFailureConverter().errorToFailure(
    activityFailure(error),
    defaultPayloadConverter,
  );
  const bytes = temporal.api.failure.v1.Failure.encode(encoded).finish();
  expect(bytes.length).toBeLessThan(4096);
  expect(encoded.message).toBe(error.message);
  expect(encoded.cause?.message).toContain("cause 6");
  expect(encoded.stackTrace).toContain("activity-failure.test.ts");
});

test("a failure has the error's code, and says whether an attempt can succeed", () => {
  const error = new EverturnError("RUN_FAILED", { run: "one", reason: "the server is gone" });
  const failure = activityFailure(error);
  expect(failure).toBeInstanceOf(ApplicationFailure);
  expect(failure.type).toBe("RUN_FAILED");
  expect(failure.nonRetryable).toBe(!error.retryable);
  expect(failure.cause).toBeUndefined();
});
