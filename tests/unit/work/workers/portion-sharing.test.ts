import { expect, test, vi } from "vitest";
import { EverturnError } from "../../../../src/base/errors/everturn-error.ts";
import { removePortions } from "../../../../src/results/retention/remove-portions.ts";
import { prefixOf } from "../../../../src/run/store/key.ts";
import { commitClaimKey, portionKeys, trainedStepKey } from "../../../../src/run/store/keys.ts";
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
  return async () => {
    const numbers: (number | undefined)[] = [];
    const compute = async (at: number) => bytes(10 * trainer + at);
    await sharing.gather("scores", 3, compute, ([one]) => numbers.push(one));
    return numbers;
  };
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
  await store.record(commitClaimKey(step, "another"), { by: "another trainer" });
  await expect(sharePortions(store, other).commit(never)).rejects.toMatchObject(superseded);
});

test("a result is used as soon as those before it are there", async () => {
  const store = openFolderStore(temporaryFolder());
  const keys = [0, 1, 2].map((at) => portionKeys(step, "b", "1-scores", at));
  const events: string[] = [];
  const compute = async (at: number) => {
    events.push(`compute ${at}`);
    return bytes(at);
  };
  const use = ([one]: Uint8Array) => events.push(`use ${one}`);
  await sharePortions(store, shared).gather("scores", 3, compute, use);
  expect(events).toEqual(["compute 0", "use 0", "compute 1", "use 1", "compute 2", "use 2"]);
  expect((await store.readTree(keys[0]!.result))?.value.seconds).toBeLessThan(5);
});

test("a trainer that commits second accepts the same version, and no other one", async () => {
  const store = openFolderStore(temporaryFolder());
  const own = sharePortions(store, shared);
  const late = async () => {
    await commit(store, shared.batch);
    throw new EverturnError("ATTEMPT_SUPERSEDED", { file: "steps/3" });
  };
  expect(await own.commit(late)).toMatchObject({ policyVersion: 4, batch: shared.batch });
  const broken = () => Promise.reject(new Error("no room"));
  await expect(sharePortions(openFolderStore(temporaryFolder()), shared).commit(broken)).rejects.toThrow(
    "no room",
  );
  const other = openFolderStore(temporaryFolder());
  const overtaken = async () => {
    await commit(other, "another");
    throw new EverturnError("ATTEMPT_SUPERSEDED", { file: "steps/3" });
  };
  await expect(sharePortions(other, shared).commit(overtaken)).rejects.toMatchObject(superseded);
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
