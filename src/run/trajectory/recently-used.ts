/** A cache of values that are expensive to get. It keeps the most recently used. */
export interface RecentlyUsed<Key, Value> {
  /** The value, created by `make` unless it is cached. Undefined values are not cached. */
  get(key: Key, make: () => Promise<Value | undefined>): Promise<Value | undefined>;
}

/** A cache of at most `most` values. */
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
