import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { TreeKey } from "./key.ts";
import type { Store } from "./store.ts";
import type { Tree } from "./tree.ts";
import { treeRecord } from "./tree-paths.ts";

/** Commits a tree like `Store.tree`, and throws ATTEMPT_SUPERSEDED if another attempt was first. */
export async function commitTree<Value>(
  store: Pick<Store, "tree">,
  key: TreeKey<Value>,
  write: (folder: string) => Promise<void>,
  value: () => Value,
): Promise<Tree<Value>> {
  let own: Value | undefined;
  const tree = await store.tree(key, write, () => {
    own = value();
    return own;
  });
  if (tree.value !== own) throw new EverturnError("ATTEMPT_SUPERSEDED", { file: treeRecord(key.tree) });
  return tree;
}
