import { EverturnError } from "../../base/errors/everturn-error.ts";

/** Out-of-memory messages of C++, ONNX Runtime, CUDA and the system (for example about a thread's stack). */
const wordsOfAllocators = /std::bad_alloc|failed to allocate memory|out of memory|cannot allocate memory/i;

/** Returns the error of a model's pass: ONNX_OUT_OF_MEMORY for a message about memory, otherwise ONNX_RUN_FAILED. */
export function passError(reason: string, cause?: unknown): EverturnError {
  const code = wordsOfAllocators.test(reason) ? "ONNX_OUT_OF_MEMORY" : "ONNX_RUN_FAILED";
  return new EverturnError(code, { reason }, { cause });
}

/** Returns the error of a session that could not be created: ONNX_OUT_OF_MEMORY or ONNX_SESSION_FAILED. */
export function sessionError(reason: string, cause: unknown): EverturnError {
  const code = wordsOfAllocators.test(reason) ? "ONNX_OUT_OF_MEMORY" : "ONNX_SESSION_FAILED";
  return new EverturnError(code, { reason }, { cause });
}

/** Returns the error of a call to a closed session. */
export function closedError(): EverturnError {
  return passError("the session is closed");
}
