/** Runs work that shares a key one at a time, in the order of the calls. */
export function oneAtATime(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key);
    const mine = (async () => {
      await before?.catch(() => {}); // its own caller gets this error
      return work();
    })();
    last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (last.get(key) === mine) last.delete(key);
    }
  };
}
