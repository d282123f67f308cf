import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { TreeKey } from "./key.ts";
import type { Store } from "./store.ts";

/** A folder in a tree. */
export interface TreePart {
  key: TreeKey<unknown>;
  part: string;
}

/** A part of a tree that stays in a local folder. */
export interface KeptPart {
  folder: string;
  release(): void;
}

/**
 * Works on a part of the tree that stands, in a local folder which is there for as long as `work` takes and is not to be
 * written to; `options` as of `Store.inFolder`. Throws FILES_GONE if there is no such tree, or that part of it was freed or is broken.
 */
export async function inPart<Result>(
  store: Pick<Store, "readTree" | "inFolder" | "problemOf">,
  { key, part }: TreePart,
  work: (folder: string) => Promise<Result>,
  options?: { isUnread?: boolean },
): Promise<Result> {
  for (let tried: string | undefined; ; ) {
    const tree = await store.readTree(key);
    if (tree === undefined || tree.attempt === tried) {
      const reason = await store.problemOf(key, part);
      throw new EverturnError("FILES_GONE", { tree: key.tree, part, reason });
    }
    const done = await store.inFolder(key, tree, part, work, options);
    if (done !== undefined) return done.result;
    tried = tree.attempt; // one that was found to be broken now may have been replaced
  }
}

/** Has a part of the tree that stands in a local folder until it is released. Throws FILES_GONE. */
export function keepPart(
  store: Pick<Store, "readTree" | "inFolder" | "problemOf">,
  part: TreePart,
): Promise<KeptPart> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  return new Promise((resolve, reject) => {
    inPart(store, part, (folder) => {
      resolve({ folder, release });
      return released;
    }).catch(reject);
  });
}
