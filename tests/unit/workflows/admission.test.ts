import { expect, test } from "vitest";
import { type AdmittedGroup, admissible, chooseGroups } from "../../../workflows/admission.ts";

const limits = { groups: 2, groupSize: 4, staleness: 1, concurrency: 16 };
const group = (number: number, policyVersion: number, isFinished = true): AdmittedGroup => ({
  number,
  policyVersion,
  isFinished,
});

test("groups start while there is room for all of their trajectories", () => {
  expect(admissible(limits, { admitted: 0, running: 0, stepsLeft: 9 })).toBe(4);
  expect(admissible(limits, { admitted: 1, running: 13, stepsLeft: 9 })).toBe(0);
  expect(admissible(limits, { admitted: 1, running: 12, stepsLeft: 9 })).toBe(1);
  const narrow = { ...limits, concurrency: 3 };
  expect(admissible(narrow, { admitted: 0, running: 0, stepsLeft: 9 }), "a group larger than the room").toBe(
    1,
  );
});

test("no more groups are admitted than staleness lets train, nor than the steps to come take", () => {
  expect(admissible(limits, { admitted: 4, running: 0, stepsLeft: 9 })).toBe(0);
  expect(admissible(limits, { admitted: 0, running: 0, stepsLeft: 1 })).toBe(2);
  expect(admissible({ ...limits, staleness: 0 }, { admitted: 0, running: 0, stepsLeft: 9 })).toBe(2);
});

test("a step takes the finished groups that began first", () => {
  const admitted = [group(1, 3, false), group(2, 3), group(3, 4), group(4, 4)];
  expect(chooseGroups(admitted, 4, { ...limits, staleness: 2 })).toEqual([2, 3]);
  expect(chooseGroups(admitted.slice(0, 2), 4, limits)).toBeUndefined();
});

test("a step waits for a group that no later step could train on", () => {
  const late = [group(1, 3, false), group(2, 4), group(3, 4)];
  expect(chooseGroups(late, 4, limits)).toBeUndefined();
  expect(chooseGroups(late, 3, limits)).toEqual([2, 3]);
});

test("a step waits where skipping would leave more than the next step can take", () => {
  const skipped = [group(1, 4, false), group(2, 4, false), group(3, 4, false), group(4, 4), group(5, 4)];
  expect(chooseGroups(skipped, 4, limits)).toBeUndefined();
  expect(chooseGroups(skipped, 4, { ...limits, staleness: 2 })).toEqual([4, 5]);
});

test("whatever finishes when, nothing is trained later than staleness allows, and every step gets its groups", () => {
  for (let seed = 1; seed <= 300; seed++) {
    let state = seed;
    const random = (below: number) => {
      state = (state * 48271) % 2147483647;
      return state % below;
    };
    const own = {
      groups: 1 + random(4),
      groupSize: 1,
      staleness: 1 + random(4),
      concurrency: 1 + random(20),
    };
    const steps = 12;
    let open: AdmittedGroup[] = [];
    let next = 1;
    for (let version = 0; version < steps; ) {
      const running = open.filter((one) => !one.isFinished).length;
      const start = admissible(own, { admitted: open.length, running, stepsLeft: steps - version });
      for (let index = 0; index < start; index++) open.push(group(next++, version, false));
      const taken = chooseGroups(open, version, own);
      if (taken === undefined) {
        const unfinished = open.filter((other) => !other.isFinished);
        const one = unfinished[random(unfinished.length)];
        expect(one, `seed ${seed}: all have finished, and the step still waits`).toBeDefined();
        open = open.map((other) => (other === one ? { ...other, isFinished: true } : other));
        continue;
      }
      for (const number of taken) {
        const began = open.find((one) => one.number === number)?.policyVersion ?? -1;
        expect(version - began).toBeLessThanOrEqual(own.staleness);
      }
      open = open.filter((one) => !taken.includes(one.number));
      version += 1;
    }
    expect(open).toEqual([]);
    expect(next - 1).toBe(steps * own.groups);
  }
});
