/** Whether `error` is the operating system's error `code`, such as ENOENT. */
export function isSystemError(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
