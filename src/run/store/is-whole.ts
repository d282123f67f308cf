import type { Store } from "./store.ts";
import type { TreePart } from "./tree-part.ts";

/**
 * Whether a part of a tree is what its record says, every file of it read: so one is found that changed at its size, too. What is
 * not counts as broken from then on, and is told. One that was freed, or never was, is none that broke.
 */
export async function isWhole(
  store: Pick<Store, "readTree" | "treeRecord" | "isFreed" | "inFolder">,
  { key, part }: TreePart,
): Promise<boolean> {
  const tree = await store.readTree(key);
  if (tree === undefined) return (await store.treeRecord(key)) === undefined;
  if (await store.isFreed(key, part)) return true;
  return (await store.inFolder(key, tree, part, async () => {})) !== undefined;
}
