/** Yields `work`'s results in the order of the items, and has at most `most` of them in progress or waiting. */
export async function* ahead<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  most: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const begun: Promise<Result>[] = [];
  for await (const item of items) {
    const result = work(item);
    result.catch(() => {}); // rethrown below, when its turn comes
    begun.push(result);
    if (begun.length < most) continue;
    const [first] = begun.splice(0, 1);
    if (first !== undefined) yield await first;
  }
  for (const result of begun) yield await result;
}
