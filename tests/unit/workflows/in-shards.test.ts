import { expect, test } from "vitest";
import { groupPlaces } from "../../../src/contracts/group-places.ts";
import { inShards, samplesIn } from "../../../workflows/in-shards.ts";

/** The sizes of the shards of so many groups, and how many trajectories of each may be under way at once. */
function shardsOf(groups: number, groupSize: number, concurrency: number): [number, number][] {
  const tasks = Array.from({ length: groups }, (_, index) => `t${index}`);
  const shards = inShards(groupPlaces(1, tasks, groupSize), concurrency);
  return shards.map((shard) => [samplesIn(shard.groups), shard.concurrency]);
}

test("shards hold whole groups, at most 128 trajectories; 10,000 trajectories are 79 of them", () => {
  const sizes = shardsOf(1250, 8, 10_000).map(([size]) => size);
  expect(sizes).toHaveLength(79);
  expect(Math.max(...sizes)).toBe(128);
  expect(shardsOf(2, 200, 400).map(([size]) => size)).toEqual([200, 200]);
});

test("where there is room for all trajectories none waits, however uneven the shards are", () => {
  expect(shardsOf(200, 1, 200)).toEqual([
    [128, 128],
    [72, 72],
  ]);
});

test("shards share the places by their sizes, down to the last one", () => {
  expect(shardsOf(25, 8, 100)).toEqual([
    [128, 64],
    [72, 36],
  ]);
  for (const [groups, groupSize] of [
    [1000, 1],
    [129, 1],
    [70, 5],
  ] as const) {
    for (const concurrency of [10, 37, 64, 128, 349]) {
      const places = shardsOf(groups, groupSize, concurrency).map(([, own]) => own);
      expect(places.reduce((sum, own) => sum + own)).toBe(concurrency);
    }
  }
});

test("with fewer places than shards each has one, and so many shards run at once", () => {
  expect(shardsOf(5, 128, 2).map(([, own]) => own)).toEqual([1, 1, 1, 1, 1]);
});
