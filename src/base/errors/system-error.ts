/** Whether `error` is the operating system's error `code`, such as ENOENT. */
export function isSystemError(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/**
 * Whether the operating system reports that nothing has this name. Other errors don't prove absence: a disk that
 * can't answer (EIO, ESTALE, EACCES …) may still hold the file.
 */
export function isAbsence(error: unknown): boolean {
  return isSystemError(error, "ENOENT") || isSystemError(error, "ENOTDIR");
}
