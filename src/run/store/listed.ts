import type { Prefix } from "./key.ts";
import { pathsOf } from "./pages.ts";
import type { Store } from "./store.ts";

/** The paths of everything below a place, in order. May lag behind changes, like every listing. */
export function listed(store: Pick<Store, "list">, prefix: Prefix): AsyncGenerator<string> {
  return pathsOf((after) => store.list(prefix, after));
}
