/** A thing that is created at its first use. */
export interface MadeOnce<Thing> {
  get(): Promise<Thing>;
  /** Undefined until the first use. */
  made(): Promise<Thing> | undefined;
}

/** Creates a thing at its first use. */
export function madeOnce<Thing>(make: () => Promise<Thing>): MadeOnce<Thing> {
  let made: Promise<Thing> | undefined;
  return {
    get: () => {
      made ??= make();
      return made;
    },
    made: () => made,
  };
}

/** Things by key, each created at its first use. */
export interface MadeByKey<Key extends readonly unknown[], Thing> {
  get(...key: Key): Thing;
  /** Returns the things created so far. */
  made(): Thing[];
}

/** Creates things by key, each at its first use. Parts of a key are compared as text. */
export function madeByKey<Key extends readonly unknown[], Thing>(
  make: (...key: Key) => Thing,
): MadeByKey<Key, Thing> {
  const things = new Map<string, Thing>();
  return {
    get(...key) {
      const name = key.join();
      const thing = things.get(name) ?? make(...key);
      things.set(name, thing);
      return thing;
    },
    made: () => [...things.values()],
  };
}
