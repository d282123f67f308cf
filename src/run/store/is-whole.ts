import type { Store } from "./store.ts";
import type { TreePart } from "./tree-part.ts";

/**
 * Whether a part of a tree matches its record. It reads every file, which also finds changes that keep the size. A
 * part that does not match counts as broken from then on, and is reported. One that was freed, or never existed,
 * does not count as broken.
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
