import type { EndedGroup, GroupPlace, OpenGroup } from "../src/contracts/rollout.ts";
import { stepStage } from "../src/contracts/stages.ts";

/** A group as it is when it is admitted. */
export function admitted(place: GroupPlace, policyVersion: number): OpenGroup {
  return { ...place, policyVersion, isStarted: false, results: {} };
}

/** Whether all trajectories of a group have ended. */
export function hasEnded({ samples, results }: OpenGroup): boolean {
  return samples.every((sample) => results[sample] !== undefined);
}

/** What a step is given of a group. `step` trains on it: of another one's stage, its name tells the stage, too. */
export function endedGroup({ stage, task, samples, results }: OpenGroup, step: number): EndedGroup {
  const group = stage === stepStage(step) ? task : `${stage}/${task}`;
  return { group, results: samples.flatMap((sample) => results[sample] ?? []) };
}

/** Trajectories of one shard: with many more children a workflow is slow, and its history long. */
export const shardSize = 128;

/** `groups` in parts of at most `shardSize` trajectories (one group, if that has more). */
export function inShards<Group extends GroupPlace>(groups: readonly Group[]): Group[][] {
  const shards: Group[][] = [];
  let room = 0;
  for (const group of groups) {
    if (room < group.samples.length) {
      shards.push([]);
      room = shardSize;
    }
    shards.at(-1)?.push(group);
    room -= group.samples.length;
  }
  return shards;
}
