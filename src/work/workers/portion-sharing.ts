import { randomUUID } from "node:crypto";
// biome-ignore lint/style/noRestrictedImports: the folder of a tree
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { persistently } from "../../base/files/persistently.ts";
import type { TrainedStep } from "../../contracts/ledger.ts";
import type { PortionSharing } from "../../contracts/trainer.ts";
import type { Key } from "../../run/store/key.ts";
import { commitClaimKey, portionKeys, trainedStepKey } from "../../run/store/keys.ts";
import type { Store } from "../../run/store/store.ts";
import { treeRecord } from "../../run/store/tree-paths.ts";

/** How long to wait for a claimed portion: at least this long, in seconds, or as many times the longest portion so far. */
const patience = { least: 10, times: 3 };

/** Milliseconds between two looks for a portion. */
const pause = 200;

const file = "result";

type Keys = ReturnType<typeof portionKeys>;

/** How a trainer shares a step with others that make the same version. */
export interface SharedStep extends PortionSharing {
  /** Commits the version, or waits until another trainer has done so. Returns the committed record. */
  commit(work: () => Promise<TrainedStep>): Promise<TrainedStep>;
}

/**
 * Shares the computations of a step through the store. A portion's first record counts for all trainers, so different
 * machines can't make them differ. A trainer claims a portion before it computes it. If a claimed portion does not come
 * in time, every trainer that waits for it computes it. `batch` identifies everything that the result depends on. If the
 * step is committed meanwhile, all methods throw ATTEMPT_SUPERSEDED, except that `commit` accepts the same version.
 */
export function sharePortions(
  store: Store,
  { step, batch, portions }: { step: number; batch: string; portions: number },
): SharedStep {
  const own = randomUUID();
  let computations = 0;
  let longest = 0;

  const committed = async () => (await store.readTree(trainedStepKey(step)))?.value;

  async function checkOpen(): Promise<void> {
    if (await committed()) throw superseded();
  }

  function superseded(): EverturnError {
    return new EverturnError("ATTEMPT_SUPERSEDED", { file: treeRecord(trainedStepKey(step).tree) });
  }

  async function claims(key: Key<{ by: string }>): Promise<boolean> {
    return (await store.record(key, { by: own })).by === own;
  }

  /** Looks until there is a result. Makes it once the patience for another trainer's claim is over. */
  async function waited<Result>(
    look: () => Promise<Result | undefined>,
    make: () => Promise<Result>,
  ): Promise<Result> {
    const deadline = performance.now() + 1000 * Math.max(patience.least, patience.times * longest);
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (performance.now() > deadline) return make();
      await sleep(pause);
    }
  }

  async function read({ result }: Keys): Promise<Uint8Array | undefined> {
    const tree = await store.readTree(result);
    if (tree === undefined) return undefined;
    longest = Math.max(longest, tree.value.seconds);
    return (await store.inFolder(result, tree, "", (folder) => readFile(join(folder, file))))?.result;
  }

  async function compute(keys: Keys, work: () => Promise<Uint8Array>): Promise<Uint8Array> {
    await checkOpen();
    const began = performance.now();
    const content = await work();
    const made = { seconds: (performance.now() - began) / 1000 };
    longest = Math.max(longest, made.seconds);
    const write = (folder: string) => persistently(() => writeFile(join(folder, file), content));
    const { value } = await store.tree(keys.result, write, () => made);
    return value === made ? content : ((await read(keys)) ?? compute(keys, work));
  }

  return {
    portions,
    async gather(name, count, work) {
      const computation = `${++computations}-${name}`;
      const all = Array.from({ length: count }, (_, portion) => ({
        keys: portionKeys(step, batch, computation, portion),
        work: () => work(portion),
      }));
      const made = new Map<Keys, Uint8Array>();
      for (const one of all)
        if (await claims(one.keys.claim)) made.set(one.keys, await compute(one.keys, one.work));
      const results: Uint8Array[] = [];
      for (const one of all) {
        const look = async () => {
          const found = await read(one.keys);
          if (found === undefined) await checkOpen();
          return found;
        };
        results.push(made.get(one.keys) ?? (await waited(look, () => compute(one.keys, one.work))));
      }
      return results;
    },
    async commit(work) {
      if (await claims(commitClaimKey(step, batch))) return work();
      const value = await waited(committed, work);
      if (value.batch !== batch) throw superseded();
      return value;
    },
  };
}
