import { randomUUID } from "node:crypto";
// biome-ignore lint/style/noRestrictedImports: the folder of a tree
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { EverturnError, isEverturnError } from "../../base/errors/everturn-error.ts";
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

  /** The committed record, if that is why this trainer could not commit the step. */
  async function committedInstead(error: unknown): Promise<TrainedStep> {
    const value =
      isEverturnError(error) && error.code === "ATTEMPT_SUPERSEDED" ? await committed() : undefined;
    if (value === undefined) throw error;
    return value;
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
    const seconds = stopwatch();
    const content = await work();
    const made = { seconds: seconds() };
    longest = Math.max(longest, made.seconds);
    const write = (folder: string) => persistently(() => writeFile(join(folder, file), content));
    const { value } = await store.tree(keys.result, write, () => made);
    return value === made ? content : ((await read(keys)) ?? compute(keys, work));
  }

  return {
    portions,
    async gather(name, count, work, use) {
      const computation = `${++computations}-${name}`;
      const all = Array.from({ length: count }, (_, portion) => ({
        keys: portionKeys(step, batch, computation, portion),
        work: () => work(portion),
      }));
      const made = new Map<number, Uint8Array>();
      let next = 0;
      /** Uses results as soon as those before them are there, because gradients are large. */
      const add = (portion: number, content: Uint8Array) => {
        made.set(portion, content);
        for (let first = made.get(next); first !== undefined; first = made.get(next)) {
          use(first);
          made.delete(next++);
        }
      };
      for (const [portion, one] of all.entries())
        if (await claims(one.keys.claim)) add(portion, await compute(one.keys, one.work));
      for (let one = all[next]; one !== undefined; one = all[next]) {
        const { keys, work: make } = one;
        const look = async () => {
          const found = await read(keys);
          if (found === undefined) await checkOpen();
          return found;
        };
        add(next, await waited(look, () => compute(keys, make)));
      }
    },
    async commit(work) {
      const commit = () => work().catch(committedInstead);
      const isFirst = await claims(commitClaimKey(step, batch));
      const value = isFirst ? await commit() : await waited(committed, commit);
      if (value.batch !== batch) throw superseded();
      return value;
    },
  };
}

/** Returns a function that measures the seconds of work since now. A process does not work while it is stopped. */
function stopwatch(): () => number {
  const began = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return Math.min((performance.now() - began) / 1000, (user + system) / 1e6);
  };
}
