import { expect, test, vi } from "vitest";
import { removePortions } from "../../../../src/results/retention/remove-portions.ts";
import { prefixOf } from "../../../../src/run/store/key.ts";
import { portionKeys, trainedStepKey } from "../../../../src/run/store/keys.ts";
import { openFolderStore } from "../../../../src/run/store/open-run-store.ts";
import type { Store } from "../../../../src/run/store/store.ts";
import { sharePortions } from "../../../../src/work/workers/portion-sharing.ts";
import { idleMetrics } from "../../../support/idle-metrics.ts";
import { samplePlan } from "../../../support/sample-plan.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const step = 3;
const shared = { step, batch: "b", portions: 3 };
const bytes = (number: number) => Uint8Array.of(number);
const superseded = { code: "ATTEMPT_SUPERSEDED" };

/** What a trainer gathers whose own results say who computed them. */
function gather(store: Store, trainer: number, batch = shared.batch) {
  const sharing = sharePortions(store, { ...shared, batch });
  return async () =>
    (await sharing.gather("scores", 3, async (at) => bytes(10 * trainer + at))).map(([one]) => one);
}

async function pathsBelow(store: Store): Promise<string[]> {
  const paths: string[] = [];
  for await (const { path, corrupt } of store.scan(prefixOf("steps"))) {
    expect(corrupt, path).toEqual([]);
    paths.push(path);
  }
  return paths;
}

const commit = (store: Store, batch: string) =>
  store.tree(
    trainedStepKey(step),
    async () => {},
    () => ({
      step,
      from: 2,
      policyVersion: 4,
      metrics: idleMetrics,
      trajectories: [],
      leftOut: [],
      seconds: 1,
      batch,
    }),
  );

test("trainers that gather at once get the same results, each from the trainer that claimed it", async () => {
  const store = openFolderStore(temporaryFolder());
  const all = await Promise.all([1, 2, 3].map((trainer) => gather(store, trainer)()));
  expect(all[0]!.map((one) => one! % 10)).toEqual([0, 1, 2]);
  expect(all).toEqual([all[0], all[0], all[0]]);
  expect(await gather(store, 4)()).toEqual(all[0]);
  expect(await gather(store, 5, "another")()).toEqual([50, 51, 52]);
});

test("a portion that was claimed and does not come is computed by others, and the first record counts", async () => {
  const store = openFolderStore(temporaryFolder());
  await store.record(portionKeys(step, "b", "1-scores", 1).claim, { by: "a trainer that was stopped" });
  vi.useFakeTimers({ toFake: ["performance"] });
  const waiting = gather(store, 1)();
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await store.readTree(portionKeys(step, "b", "1-scores", 1).result)).toBeUndefined();
  vi.advanceTimersByTime(11_000);
  expect(await waiting).toEqual([10, 11, 12]);
  vi.useRealTimers();
  expect(await gather(store, 2)()).toEqual([10, 11, 12]);
});

test("once the step is committed, a late trainer computes nothing, and accepts only the version of its own batch", async () => {
  const store = openFolderStore(temporaryFolder());
  const never = () => Promise.reject(new Error("committed twice"));
  const own = sharePortions(store, shared);
  const { value } = await commit(store, shared.batch);
  expect(await own.commit(async () => value)).toEqual(value);
  await expect(gather(store, 1)()).rejects.toMatchObject(superseded);
  expect(await sharePortions(store, shared).commit(never)).toEqual(value);
  const other = { ...shared, batch: "another" };
  await sharePortions(store, other).commit(async () => value);
  await expect(sharePortions(store, other).commit(never)).rejects.toMatchObject(superseded);
});

test("portions are removed with their claims, and a removal that is interrupted leaves no broken record", async () => {
  const store = openFolderStore(temporaryFolder());
  await gather(store, 1)();
  const plan = samplePlan({ steps: 1, batchSize: 8, tasks: 2, warmStart: false, evaluationEvery: 0 });
  const run = { plan: { ...plan, trainer: { ...plan.trainer, portions: 3 } }, store };
  let removals = 0;
  const remove: Store["remove"] = (key) => {
    if (++removals > 4) throw new Error("killed");
    return store.remove(key);
  };
  await removePortions({ ...run, plan }, [step]);
  expect(await pathsBelow(store)).toHaveLength(6);
  await expect(removePortions({ ...run, store: { ...store, remove } }, [step])).rejects.toThrow("killed");
  expect(await pathsBelow(store)).toHaveLength(2);
  await removePortions(run, [step]);
  expect((await store.list(prefixOf("steps"))).paths).toEqual([]);
});
