/** `T` before its undefined properties are removed: only those that `T` may lack can be undefined. */
type Undefinable<T> = { [K in keyof T]: Record<never, never> extends Pick<T, K> ? T[K] | undefined : T[K] };

/**
 * Copies a record without the properties whose value is `undefined`. What the result is assigned to, passed to or returned
 * as decides its type `T`; where nothing does, name it: `defined<Options>({ … })`.
 */
export function defined<T extends object = never>(record: NoInfer<Undefinable<T>>): T;
export function defined(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}
