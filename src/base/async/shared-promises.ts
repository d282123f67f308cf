/** Things made once for a key and shared by all who ask; what failed to be made is made anew when asked for again. */
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
