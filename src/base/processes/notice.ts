/** A message that a worker sends to the user through the session that started it. */
export interface Notice {
  notice: string;
  /** A code of the error table. */
  code: string;
}

/** Reports a notice on standard error and to the session that started this process. */
export function tellNotice(notice: Notice): void {
  process.stderr.write(`${notice.code}: ${notice.notice}\n`);
  if (process.connected) process.send?.(notice);
}
