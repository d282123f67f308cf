/** A thing that is made when it is first wanted. */
export interface MadeOnce<Thing> {
  get(): Promise<Thing>;
  /** Undefined as long as nobody has wanted it. */
  made(): Promise<Thing> | undefined;
}

/** Makes a thing when it is first wanted. */
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

/** Things by key, each made when it is first wanted. */
export interface MadeByKey<Key extends readonly unknown[], Thing> {
  get(...key: Key): Thing;
  /** Those that have been made. */
  made(): Thing[];
}

/** Makes things by key, each when it is first wanted. The parts of a key are told apart by their text. */
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
