import { condition, defineQuery, defineSignal, setHandler } from "@temporalio/workflow";

/** Waits for two signals. A query makes the instance in the worker's cache forget what came, as if it had missed it. */
export async function training(): Promise<number> {
  let told = 0;
  setHandler(defineSignal("tell"), () => {
    told += 1;
  });
  setHandler(defineQuery<number>("forget"), () => {
    told = 0;
    return told;
  });
  await condition(() => told === 2);
  return told;
}
