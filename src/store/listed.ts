import type { Prefix } from "./key.ts";
import type { Store } from "./store.ts";

/** The paths of all that is below a place, in order. May lag, as every listing. */
export async function* listed(store: Pick<Store, "list">, prefix: Prefix): AsyncGenerator<string> {
  for (let after: string | undefined; ; ) {
    const { paths, next } = await store.list(prefix, after);
    yield* paths;
    if (next === undefined) return;
    after = next;
  }
}
