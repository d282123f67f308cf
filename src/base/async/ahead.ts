/** What `work` makes of each item, in their order, while at most `most` of them are worked on: none is held longer. */
export async function* ahead<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  most: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const begun: Promise<Result>[] = [];
  for await (const item of items) {
    const result = work(item);
    result.catch(() => {}); // thrown where it is its turn
    begun.push(result);
    if (begun.length < most) continue;
    const [first] = begun.splice(0, 1);
    if (first !== undefined) yield await first;
  }
  for (const result of begun) yield await result;
}
