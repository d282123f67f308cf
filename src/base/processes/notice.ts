/** What a worker tells the user by way of the session that started it. */
export interface Notice {
  notice: string;
  /** The code of the table. */
  code: string;
}

/** Says it on standard error, and to the session that started this process. */
export function tellNotice(notice: Notice): void {
  process.stderr.write(`${notice.code}: ${notice.notice}\n`);
  if (process.connected) process.send?.(notice);
}
