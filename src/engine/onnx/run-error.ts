import { EverturnError } from "../../base/errors/everturn-error.ts";

/** How an allocator says that it has nothing left: C++'s, ONNX Runtime's, CUDA's, the system's (of a thread's stack, say). */
const wordsOfAllocators = /std::bad_alloc|failed to allocate memory|out of memory|cannot allocate memory/i;

/** The error of a run of a model: ONNX_OUT_OF_MEMORY if that is what the runtime says, else ONNX_RUN_FAILED. */
export function runError(reason: string, cause?: unknown): EverturnError {
  const code = wordsOfAllocators.test(reason) ? "ONNX_OUT_OF_MEMORY" : "ONNX_RUN_FAILED";
  return new EverturnError(code, { reason }, { cause });
}

/** The error of a session that the runtime could not make: ONNX_OUT_OF_MEMORY or ONNX_SESSION_FAILED. */
export function sessionError(reason: string, cause: unknown): EverturnError {
  const code = wordsOfAllocators.test(reason) ? "ONNX_OUT_OF_MEMORY" : "ONNX_SESSION_FAILED";
  return new EverturnError(code, { reason }, { cause });
}

/** The error of a run of a session that was closed. */
export function closedError(): EverturnError {
  return runError("the session is closed");
}
