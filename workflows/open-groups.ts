import type { EndedGroup, GroupPlace, OpenGroup } from "../src/contracts/rollout.ts";
import { stepStage } from "../src/contracts/stages.ts";

/** A newly admitted group. */
export function admitted(place: GroupPlace, policyVersion: number): OpenGroup {
  return { ...place, policyVersion, isStarted: false, results: {} };
}

/** Whether all trajectories of a group have ended. */
export function hasEnded({ samples, results }: OpenGroup): boolean {
  return samples.every((sample) => results[sample] !== undefined);
}

/**
 * The part of a group that a step receives. `step` trains on it. If the group is of another step's stage, its
 * name includes that stage.
 */
export function endedGroup({ stage, task, samples, results }: OpenGroup, step: number): EndedGroup {
  const group = stage === stepStage(step) ? task : `${stage}/${task}`;
  return { group, results: samples.flatMap((sample) => results[sample] ?? []) };
}
