/** `T` before its undefined properties are removed. Only its optional properties can be undefined. */
type Undefinable<T> = { [K in keyof T]: Record<never, never> extends Pick<T, K> ? T[K] | undefined : T[K] };

/**
 * Copies a record without the properties whose value is `undefined`. The target of the result determines its type
 * `T`. Where there is no target, name it: `defined<Options>({ … })`.
 */
export function defined<T extends object = never>(record: NoInfer<Undefinable<T>>): T;
export function defined(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}
