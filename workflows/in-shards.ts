import type { GroupPlace } from "../src/contracts/rollout.ts";

/** Trajectories of one shard: with many more children a workflow is slow, and its history long. */
const shardSize = 128;

/** Groups that start together, and how many of their trajectories may be under way at once. */
export interface Shard<Group extends GroupPlace> {
  groups: Group[];
  concurrency: number;
}

/**
 * `groups` in parts of at most 128 trajectories (one group, if that has more), which share `concurrency` by their sizes. Each
 * has one at least, so no more than `concurrency` of them may run at once.
 */
export function inShards<Group extends GroupPlace>(
  groups: readonly Group[],
  concurrency: number,
): Shard<Group>[] {
  const parts = partsOf(groups);
  const total = samplesIn(groups);
  let before = 0;
  return parts.map((part) => {
    const upTo = before + samplesIn(part);
    const placesUpTo = (samples: number) => Math.floor((concurrency * samples) / total);
    const places = placesUpTo(upTo) - placesUpTo(before);
    before = upTo;
    return { groups: part, concurrency: Math.max(1, places) };
  });
}

function partsOf<Group extends GroupPlace>(groups: readonly Group[]): Group[][] {
  const parts: Group[][] = [];
  let room = 0;
  for (const group of groups) {
    if (room < group.samples.length) {
      parts.push([]);
      room = shardSize;
    }
    parts.at(-1)?.push(group);
    room -= group.samples.length;
  }
  return parts;
}

/** How many trajectories groups have. */
export function samplesIn(groups: readonly GroupPlace[]): number {
  return groups.reduce((sum, { samples }) => sum + samples.length, 0);
}
