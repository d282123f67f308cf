import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { defined } from "../../../../src/base/records/defined.ts";
import type { Trajectory } from "../../../../src/contracts/generated/trajectory.ts";
import { openTrajectoryTable } from "../../../../src/results/table/open-query.ts";
import { type QueryColumnName, queryColumns } from "../../../../src/run/projections/query-columns.ts";
import { endingOf, type StoredRecords } from "../../../../src/run/projections/stored-records.ts";
import { keyOf } from "../../../../src/run/store/key.ts";
import {
  recordedStepKey,
  type TrajectoryName,
  trajectoryKey,
  trajectoryPrefix,
  turnKey,
} from "../../../../src/run/store/keys.ts";
import { openStore } from "../../../../src/run/store/open-store.ts";
import type { Store } from "../../../../src/run/store/store.ts";
import { foldStep, type Member } from "../../../../src/run/trajectory/folded/fold-step.ts";
import { readRecords } from "../../../../src/run/trajectory/folded/read-records.ts";
import { recordsByKey } from "../../../../src/run/trajectory/folded/records-by-key.ts";
import { removeRecords } from "../../../../src/run/trajectory/folded/remove-records.ts";
import { trajectoryReader } from "../../../../src/run/trajectory/reader.ts";
import { anyTrajectory } from "../../../support/any-trajectory.ts";
import { startObjects } from "../../../support/object-store.ts";
import { openBackend } from "../../../support/open-backend.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();

/** Records trajectories of a step one by one, as activities do; all that a reader may ask for. */
async function write(store: Store, step: number, count: number) {
  const names = Array.from({ length: count }, (_, sample) => ({
    stage: `step-${step}`,
    task: "Täsk/1",
    sample,
  }));
  const asked = new Map<string, unknown>();
  for (const name of names) {
    const records = named(anyTrajectory(step * 100 + name.sample, { turns: 4, tokens: 12 }), name);
    for (const [path, value] of recordsByKey(name, records)) {
      await store.record({ path }, value);
      asked.set(path, value);
    }
    asked.set(turnKey(name, records.turns.length + 1).path, undefined);
  }
  await store.record(recordedStepKey(step), { step } as never);
  return { names, asked };
}

/** The records of a trajectory as those of another name. */
function named({ record, leftOut, ...rest }: StoredRecords, { stage, task, sample }: TrajectoryName) {
  const renamed = (one: Trajectory) => ({
    ...one,
    id: `run/${stage}/${task}/${sample}`,
    stage,
    taskId: task,
    sample,
  });
  return defined<StoredRecords>({
    ...rest,
    leftOut: leftOut.map(renamed),
    record: record === undefined ? undefined : renamed(record),
  });
}

const readerOf = (store: Store) => trajectoryReader({ store });

async function* members(store: Store, names: readonly TrajectoryName[]): AsyncGenerator<Member> {
  for (const name of names) {
    const records = await readRecords(store, name);
    const ending = endingOf(records);
    if (ending !== undefined) yield { name, records, ending, use: { trainedStep: 1 } };
  }
}

/** What conditions see of a store's trajectories. */
async function allOf(store: Store): Promise<unknown[]> {
  const table = await openTrajectoryTable({ store });
  const { rows } = await table.ask({ limit: 0, skip: 0 }, Object.keys(queryColumns) as QueryColumnName[]);
  table.close();
  return rows;
}

test("all records of any trajectory are read to be put into its step's file", async () => {
  const store = openStore(openBackend({ root: mkdtempSync(join(folder, "store-")) }), () => {});
  for (let seed = 0; seed < 120; seed++) {
    const name = { stage: "step-1", task: "t", sample: seed };
    const records = anyTrajectory(seed, { turns: 4, tokens: 3 });
    for (const [path, value] of recordsByKey(name, records)) await store.record({ path }, value);
    const read = await readRecords(store, name);
    expect(new Map(recordsByKey(name, read)), `seed ${seed}`).toEqual(new Map(recordsByKey(name, records)));
  }
});

describe.each(["folder", "objects"])("a reader over %s", (kind) => {
  async function freshStore(): Promise<Store> {
    const place =
      kind === "folder"
        ? { root: mkdtempSync(join(folder, "store-")) }
        : await startObjects(folder, { latency: 0, failures: 0, lag: 0 });
    return openStore(openBackend(place), () => {});
  }

  test("answers the same while a step is single records, in both forms, and in its file alone", async () => {
    const store = await freshStore();
    const first = await write(store, 1, 6);
    const second = await write(store, 2, 2);
    const asked = [...first.asked, ...second.asked];
    const early = readerOf(store);
    const expectAll = async (view = readerOf(store)) => {
      for (const [path, value] of asked) expect(await view.read({ path }), path).toStrictEqual(value);
    };
    await expectAll(early);
    const table = await allOf(store);
    expect(table.length).toBeGreaterThan(0);

    await foldStep(store, 1, () => members(store, first.names));
    await expectAll();
    expect(await allOf(store)).toEqual(table);
    for (const name of first.names) expect(await removeRecords(store, [name])).toBeGreaterThan(0);
    await expectAll();
    await expectAll(early); // it had looked before the step was folded
    expect(await allOf(store)).toEqual(table);

    const reader = readerOf(store);
    expect(await reader.list()).toEqual([...first.names, ...second.names]);
    const [name = first.names[0]] = first.names;
    if (name === undefined) throw new Error("no name");
    expect((await reader.finished(name))?.reward).toBe(
      endingOf(anyTrajectory(100, { turns: 4, tokens: 12 }))?.reward,
    );
    expect(await reader.foldedIn(trajectoryPrefix(name).prefix)).toBe(1);
    const other = trajectoryPrefix({ stage: "step-2", task: "Täsk/1", sample: 0 });
    expect(await reader.foldedIn(other.prefix)).toBeUndefined();
  });

  test("reads one file for a trajectory that its own step trained on, however many steps there are", async () => {
    const store = await freshStore();
    const steps = [];
    for (const step of [1, 2, 3, 4]) {
      const written = await write(store, step, 2);
      await foldStep(store, step, () => members(store, written.names));
      await removeRecords(store, written.names);
      steps.push(written);
    }
    const opened = new Set<string>();
    const reader = readerOf({
      ...store,
      readTree: (key) => {
        opened.add(key.tree);
        return store.readTree(key);
      },
    });
    const [, second] = steps;
    for (const [path, value] of second?.asked ?? []) expect(await reader.read({ path })).toStrictEqual(value);
    expect(await reader.near("step-2")).toEqual(second?.names);
    for (const name of second?.names ?? []) expect(await reader.finished(name)).toBeDefined();
    expect([...opened]).toEqual(["steps/2/folded"]);
  });

  test("finds a trajectory that a later step trained on, whatever a late writer puts beside it", async () => {
    const store = await freshStore();
    const first = await write(store, 1, 3);
    const second = await write(store, 2, 1);
    const [late, ...others] = first.names;
    if (late === undefined) throw new Error("no name");
    await foldStep(store, 1, () => members(store, others));
    await foldStep(store, 2, () => members(store, [late, ...second.names]));
    await removeRecords(store, [...first.names, ...second.names]);
    const stray = { id: "stray" } as never;
    await store.record(trajectoryKey(late), stray);
    const reader = readerOf(store);
    for (const [path, value] of first.asked) expect(await reader.read({ path }), path).toStrictEqual(value);
    expect(await readerOf(store).finished(late)).toBeDefined();
    expect(await readerOf(store).foldedIn(trajectoryPrefix(late).prefix)).toBe(2);
    expect(await readerOf(store).list({ stage: "step-1" })).toEqual(first.names);
  });

  test("takes what is in the file, whatever a late writer puts beside it", async () => {
    const store = await freshStore();
    const { names, asked } = await write(store, 1, 2);
    await foldStep(store, 1, () => members(store, names));
    const [name] = names;
    if (name === undefined) throw new Error("no name");
    await removeRecords(store, [name]);
    await store.record(trajectoryKey(name), { id: "late" } as never);
    expect(await readerOf(store).read(trajectoryKey(name))).toEqual(asked.get(trajectoryKey(name).path));
  });

  test("reads single records where a step's file broke", async () => {
    const store = await freshStore();
    const { names, asked } = await write(store, 1, 2);
    await foldStep(store, 1, () => members(store, names));
    await store.free({ tree: "steps/1/folded" }, "");
    const reader = readerOf(store);
    for (const [path, value] of asked) expect(await reader.read({ path })).toStrictEqual(value);
    expect(await reader.read(keyOf("steps", 1, "recorded"))).toEqual({ step: 1 });
  });
});
