import { trajectoriesPrefix } from "./listed-trajectories.ts";

/** The items of a stage. */
export interface Stage<Item> {
  stage: string;
  items: Item[];
}

/** Groups consecutive items of the same stage. */
export async function* byStage<Item extends { stage: string }>(
  items: AsyncIterable<Item>,
): AsyncGenerator<Stage<Item>> {
  let current: Stage<Item> | undefined;
  for await (const item of items) {
    if (current?.stage !== item.stage) {
      if (current !== undefined) yield current;
      current = { stage: item.stage, items: [] };
    }
    current.items.push(item);
  }
  if (current !== undefined) yield current;
}

/** Merges stages in the order of their keys with `others`, which have no items. */
export async function* withOthers<Item>(
  stages: AsyncIterable<Stage<Item>>,
  others: Iterable<string>,
): AsyncGenerator<Stage<Item>> {
  const waiting = [...new Set(others)].sort(inOrder);
  for await (const stage of stages) {
    while (waiting[0] !== undefined && inOrder(waiting[0], stage.stage) < 0) {
      yield { stage: waiting.shift() ?? "", items: [] };
    }
    if (waiting[0] === stage.stage) waiting.shift();
    yield stage;
  }
  for (const stage of waiting) yield { stage, items: [] };
}

function inOrder(one: string, other: string): number {
  const [a, b] = [one, other].map((stage) => trajectoriesPrefix({ stage }).prefix);
  return a === b ? 0 : (a ?? "") < (b ?? "") ? -1 : 1;
}
