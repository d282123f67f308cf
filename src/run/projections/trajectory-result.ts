import { defined } from "../../base/records/defined.ts";
import type { EndedTrajectory } from "../../contracts/activities.ts";
import type {
  Outcome,
  TrajectoryInput,
  TrajectoryProgress,
  TrajectoryResult,
} from "../../contracts/trajectory.ts";

/** The input of the activities that record an ended trajectory. */
export function endedInput(
  { place, policyVersion, origin }: TrajectoryInput,
  { turns, calls, head, tokens, startedAt, refused }: TrajectoryProgress,
): Omit<EndedTrajectory, "task"> {
  return defined({
    place,
    policyVersion,
    turns,
    calls,
    head,
    tokens,
    startedAt,
    refused: refused.length === 0 ? undefined : refused,
    origin,
  });
}

/** The result of a trajectory before its score. `task` describes the task to people. */
export function trajectoryResult(
  input: TrajectoryInput,
  progress: TrajectoryProgress,
  task: string,
  outcome: Outcome,
): TrajectoryResult {
  const { turns, head, tokens, generationSeconds, toolCalls, validCalls, shown, policyVersions } = progress;
  const versions = policyVersions ?? { oldest: input.policyVersion, newest: input.policyVersion };
  return {
    trajectory: input.place.id,
    task,
    outcome,
    reward: 0,
    success: false,
    turns: [...shown.first, ...shown.newest],
    turnCount: turns,
    head,
    policyVersion: versions.oldest,
    newestPolicyVersion: versions.newest,
    tokens,
    generationSeconds,
    toolCalls,
    validCalls,
  };
}

/** The result of a trajectory whose workflow could not report how it ended. */
export function lostResult(
  { place, policyVersion }: TrajectoryInput,
  task: string,
  failure: string,
): TrajectoryResult {
  return {
    trajectory: place.id,
    task,
    outcome: "left-out",
    failure,
    reward: 0,
    success: false,
    turns: [],
    turnCount: 0,
    head: null,
    generationSeconds: 0,
    policyVersion,
    newestPolicyVersion: policyVersion,
    toolCalls: 0,
    validCalls: 0,
    tokens: { prompt: 0, action: 0, observation: 0 },
  };
}
