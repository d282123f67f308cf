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
 * Runs `work` on a part of the current tree in a local folder, which exists until `work` ends and must not be
 * written to. `options` are those of `Store.inFolder`. Throws FILES_GONE if there is no such tree, or if the part
 * was freed or is broken.
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
    tried = tree.attempt; // if it turned out to be broken just now, another may have replaced it
  }
}

/** Keeps a part of the current tree in a local folder until it is released. Throws FILES_GONE. */
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
