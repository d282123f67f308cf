/** Does `work` for each item, at most `lanes` at once. Returns the results in the order of the items. */
export async function inLanes<Item, Result>(
  items: readonly Item[],
  lanes: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  async function lane(): Promise<void> {
    while (next < items.length) {
      const index = next++;
      const item = items[index];
      if (item === undefined) return;
      results[index] = await work(item, index);
    }
  }
  await Promise.all(Array.from({ length: Math.min(lanes, items.length) }, lane));
  return results;
}
