/**
 * Awaits `work` in a process that would end if it had nothing else to wait for, because promises alone don't keep it
 * alive.
 */
export async function keptAlive<Result>(work: Promise<Result>): Promise<Result> {
  const timer = setInterval(() => {}, 60_000);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
