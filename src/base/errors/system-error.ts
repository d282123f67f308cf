/** Whether `error` is the operating system's error `code`, such as ENOENT. */
export function isSystemError(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/**
 * Whether the operating system says that nothing has this name. No other error says so: a disk that can't answer (EIO, ESTALE,
 * EACCES …) may hold what was asked for.
 */
export function isAbsence(error: unknown): boolean {
  return isSystemError(error, "ENOENT") || isSystemError(error, "ENOTDIR");
}
