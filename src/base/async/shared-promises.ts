/** Values that are made once per key and shared by all callers. A failed attempt is repeated on the next call. */
export interface SharedPromises<Value> {
  get(key: string, make: () => Promise<Value>): Promise<Value>;
  all(): Promise<Value>[];
}

/** An empty collection. */
export function sharedPromises<Value>(): SharedPromises<Value> {
  const known = new Map<string, Promise<Value>>();
  return {
    get: (key, make) => {
      const promise = known.get(key) ?? make();
      known.set(key, promise);
      promise.catch(() => known.delete(key));
      return promise;
    },
    all: () => [...known.values()],
  };
}
