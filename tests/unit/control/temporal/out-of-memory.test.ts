import { ApplicationFailure } from "@temporalio/common";
import { MockActivityEnvironment } from "@temporalio/testing";
import { expect, test } from "vitest";
import { durable } from "../../../../src/control/temporal/durable.ts";
import { isOutOfMemory } from "../../../../src/control/temporal/out-of-memory.ts";
import { passError, sessionError } from "../../../../src/engine/onnx/pass-error.ts";

/** What Temporal is told of an activity that throws `error`. */
async function failure(error: unknown): Promise<unknown> {
  const activity = durable(() => Promise.reject(error));
  return new MockActivityEnvironment().run(activity, {}).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
}

const noMemory = [
  "Non-zero status code … Status Message: std::bad_alloc",
  "/onnxruntime_src/onnxruntime/core/platform/posix/env.cc:251 … pthread_create failed, error code: 12 error msg: Cannot allocate memory",
];

test.each(noMemory)(
  "an activity that found no memory is told apart, and worth a retry: %s",
  async (reason) => {
    for (const error of [passError(reason), sessionError(reason, undefined)]) {
      const allocation = await failure(error);
      expect(allocation).toMatchObject({ type: "ONNX_OUT_OF_MEMORY", nonRetryable: false });
      expect(isOutOfMemory(allocation)).toBe(true);
    }
  },
);

test("an activity that failed for another reason is not said to have found no memory", async () => {
  const shape = await failure(passError("Got invalid dimensions for input: ids"));
  expect(shape).toMatchObject({ type: "ONNX_RUN_FAILED", nonRetryable: true });
  expect(isOutOfMemory(shape)).toBe(false);
});

test("an array that found no memory is told apart from an array of a wrong length", async () => {
  const arrays = (length: number) => {
    try {
      return new ArrayBuffer(length);
    } catch (error) {
      return error;
    }
  };
  expect(isOutOfMemory(await failure(arrays(2 ** 52)))).toBe(true);
  expect(isOutOfMemory(await failure(arrays(-1)))).toBe(false);
  expect(isOutOfMemory(ApplicationFailure.create({ type: "TOOL_FAILED", message: "out of memory" }))).toBe(
    false,
  );
});
