/** Values that cost something to get, the latest used kept. */
export interface RecentlyUsed<Key, Value> {
  /** The value, which `make` gets unless it is kept; what is undefined is asked for again. */
  get(key: Key, make: () => Promise<Value | undefined>): Promise<Value | undefined>;
}

/** Keeps at most so many. */
export function recentlyUsed<Key, Value>(most: number): RecentlyUsed<Key, Value> {
  /** By recency of use, the latest last. */
  const kept = new Map<Key, Promise<Value | undefined>>();

  async function made(key: Key, make: () => Promise<Value | undefined>): Promise<Value | undefined> {
    try {
      const value = await make();
      if (value === undefined) kept.delete(key);
      return value;
    } catch (error) {
      kept.delete(key);
      throw error;
    }
  }

  return {
    get: (key, make) => {
      const value = kept.get(key) ?? made(key, make);
      kept.delete(key);
      kept.set(key, value);
      for (const oldest of kept.keys()) {
        if (kept.size <= most) break;
        kept.delete(oldest);
      }
      return value;
    },
  };
}
