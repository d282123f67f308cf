import type { GroupPlace } from "../src/contracts/rollout.ts";

/** Trajectories per shard. A workflow with many more children is slow and has a long history. */
const shardSize = 128;

/** Groups that start together, and the number of their trajectories that may run at once. */
export interface Shard<Group extends GroupPlace> {
  groups: Group[];
  concurrency: number;
}

/**
 * Splits `groups` into shards of at most 128 trajectories. A larger group gets a shard of its own. The shards
 * share `concurrency` in proportion to their sizes. Each gets at least one, so at most `concurrency` shards
 * may run at once.
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

/** The number of trajectories in groups. */
export function samplesIn(groups: readonly GroupPlace[]): number {
  return groups.reduce((sum, { samples }) => sum + samples.length, 0);
}
