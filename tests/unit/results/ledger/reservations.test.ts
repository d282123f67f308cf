import { expect, test } from "vitest";
import type { Reservation } from "../../../../src/contracts/ledger.ts";
import { stepStage } from "../../../../src/contracts/stages.ts";
import {
  readReservations,
  readStepReservations,
  reserve,
  reservedStages,
} from "../../../../src/results/ledger/reservations.ts";
import { reservationRow } from "../../../../src/run/store/keys.ts";
import { openRunStore } from "../../../../src/run/store/open-run-store.ts";
import { openStore } from "../../../../src/run/store/open-store.ts";
import { counting } from "../../../support/asked.ts";
import { spoilObject, startObjects } from "../../../support/object-store.ts";
import { openBackend } from "../../../support/open-backend.ts";
import { samplePlan } from "../../../support/sample-plan.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const base = samplePlan({ steps: 4, batchSize: 8, tasks: 4, warmStart: false, evaluationEvery: 2 });
const plan = { ...base, rollout: { ...base.rollout, staleness: 1 } };

/** Reserves the groups of a step that have these numbers. */
const group = (step: number, ...numbers: number[]): Reservation => ({
  stage: stepStage(step),
  groups: numbers.map((number) => ({ task: `task-0000${number}`, samples: [0, 1], number })),
});
const numbersOf = (reservations: Reservation[]) =>
  reservations.flatMap(({ groups }) => groups.map(({ number }) => number)).sort();

test("what was reserved is known at once and whole, by whoever and however often, where listings lag for minutes", async () => {
  const place = await startObjects(folder, { lag: 600_000 });
  const [store, other] = [0, 1].map(() => openStore(openBackend(place), () => {}));
  if (store === undefined || other === undefined) throw new Error("two stores");
  const orders = [group(1, 1, 2), group(1, 3), group(1, 1, 2), group(1, 4), group(1, 2, 4, 5), group(3, 6)];
  await Promise.all(orders.flatMap((order) => [reserve(store, order), reserve(other, order)]));
  expect(numbersOf(await readReservations(store, "step-0001"))).toEqual([1, 2, 3, 4, 5]);
  expect(numbersOf(await readStepReservations(other, plan, 1)), "step 2 has none yet").toEqual([
    1, 2, 3, 4, 5, 6,
  ]);
  expect(numbersOf(await readStepReservations(other, plan, 2))).toEqual([6]);
  expect(await reservedStages(store), "a listing does not know them").toEqual([]);
});

test("the same task in another round is a group of its own", async () => {
  const place = await startObjects(folder, { failures: 0 });
  const store = openStore(openBackend(place), () => {});
  await reserve(store, group(1, 1));
  await reserve(store, { ...group(1, 1), round: 2 });
  expect((await readReservations(store, "step-0001")).map(({ round }) => round)).toEqual([1, 2]);
});

test("a reservation that can't be read hides none that came after it, and what it held can be reserved again", async () => {
  const place = await startObjects(folder, { failures: 0 });
  if (!("port" in place)) throw new Error("an object store has a port");
  const told: string[] = [];
  const store = openStore(openBackend(place), (path) => told.push(path));
  for (const number of [1, 2, 3]) await reserve(store, group(1, number));
  await spoilObject(place.port, reservationRow("step-0001")(2).path, "cut");
  expect(numbersOf(await readStepReservations(store, plan, 1))).toEqual([1, 3]);
  expect(told).toEqual(["ledger/step-0001/2.json"]);
  await reserve(store, group(1, 2));
  expect(numbersOf(await readReservations(store, "step-0001"))).toEqual([1, 2, 3]);
});

test("to reserve costs no more where a thousand stand than where ten do, also when an attempt comes again", async () => {
  const { counted, asked } = counting(openRunStore(folder));
  async function costOf(number: number): Promise<number> {
    const before = asked();
    await reserve(counted, group(1, number));
    return asked() - before;
  }
  for (let number = 1; number <= 10; number++) await reserve(counted, group(1, number));
  const early = await costOf(11);
  for (let number = 12; number <= 1000; number++) await reserve(counted, group(1, number));
  const late = [await costOf(1001), await costOf(1001)];
  expect(Math.max(...late) - early, `${early} questions after ten`).toBeLessThan(20);
  const reserved = await readReservations(counted, "step-0001");
  expect(reserved.flatMap(({ groups }) => groups)).toHaveLength(1001);
});
