import { executeChild } from "@temporalio/workflow";
import type { EndedGroup, GroupPlace, ShardInput, TrajectorySummary } from "../src/contracts/rollout.ts";
import type { StepInput } from "../src/contracts/run.ts";
import { inLanes } from "./in-lanes.ts";
import { stageAttributes } from "./search-attributes.ts";
import { stepStage } from "./stages.ts";

/** Trajectories of one workflow: with many more children a parent is slow, and its history long. */
export const shardSize = 128;

/** `groups` in parts of at most `shardSize` trajectories (one group, if that has more). */
export function inShards<Group extends GroupPlace>(groups: Group[]): Group[][] {
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

/** Rolls out a large step's groups by way of shards, each with its part of the trajectories at once. */
export async function runShards(
  input: StepInput,
  groups: GroupPlace[],
  onDone: (results: TrajectorySummary[]) => void,
): Promise<EndedGroup[]> {
  const { run, step, policyVersion, settings, queues, quickTurns = false } = input;
  const shards = inShards(groups);
  const atOnce = Math.min(shards.length, settings.concurrency);
  const concurrency = Math.floor(settings.concurrency / atOnce);
  const stage = stepStage(step);
  const round = groups[0]?.round ?? 1;
  const ended = await inLanes(shards, atOnce, async (own, index) => {
    const name = round === 1 ? `shard-${index + 1}` : `round-${round}-shard-${index + 1}`;
    const results = await executeChild<(input: ShardInput) => Promise<TrajectorySummary[]>>("shard", {
      args: [{ run, groups: own, policyVersion, settings, queues, quickTurns, concurrency }],
      workflowId: `${run}/${stage}/${name}`,
      typedSearchAttributes: stageAttributes({ run, stage, step, policyVersion }),
      staticSummary: `${name} of ${shards.length}: ${own.length} groups of step ${step}`,
    });
    onDone(results);
    return groupsOf(own, results);
  });
  return ended.flat();
}

/** Results in the order of their groups, gathered by group. */
export function groupsOf(groups: GroupPlace[], results: TrajectorySummary[]): EndedGroup[] {
  let next = 0;
  return groups.map(({ task, samples }) => {
    const first = next;
    next += samples.length;
    return { group: task, results: results.slice(first, next) };
  });
}
