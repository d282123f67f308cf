/** Awaits `work` in a process that would end where it has nothing else to wait for: promises alone keep none alive. */
export async function keptAlive<Result>(work: Promise<Result>): Promise<Result> {
  const timer = setInterval(() => {}, 60_000);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
