import { ApplicationFailure } from "@temporalio/common";
import type { ActivityInterceptorsFactory } from "@temporalio/worker";

/** An activity's failure that says that this process has no memory left: the runtime's, or an array's. */
export function isOutOfMemory(error: unknown): boolean {
  if (error instanceof ApplicationFailure) return error.type === "ONNX_OUT_OF_MEMORY";
  return error instanceof RangeError && error.message === "Array buffer allocation failed";
}

/**
 * Calls `tell` with the failure of an activity that found no memory. A process in which an allocation failed gets it
 * back by ending: what is left of it is in pieces.
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
