import { ApplicationFailure } from "@temporalio/common";
import type { ActivityInterceptorsFactory } from "@temporalio/worker";

/** Whether an activity failed because this process has no memory left, for the runtime or for an array. */
export function isOutOfMemory(error: unknown): boolean {
  if (error instanceof ApplicationFailure) return error.type === "ONNX_OUT_OF_MEMORY";
  return error instanceof RangeError && error.message === "Array buffer allocation failed";
}

/**
 * Calls `tell` with the failure of an activity that found no memory. After a failed allocation the process's state
 * is unreliable, so only ending it recovers the memory.
 */
export function tellOutOfMemory(tell: (error: unknown) => void): ActivityInterceptorsFactory {
  return () => ({
    inbound: {
      execute: async (input, next) => {
        try {
          return await next(input);
        } catch (error) {
          if (isOutOfMemory(error)) tell(error);
          throw error;
        }
      },
    },
  });
}
