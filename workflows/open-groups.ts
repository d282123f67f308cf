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
