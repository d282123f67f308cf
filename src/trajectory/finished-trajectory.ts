import type { FinishedTrajectory } from "../contracts/folded-step.ts";
import type { TrajectoryRecord } from "../contracts/generated/trajectory.ts";
import { observationBytes } from "./observation-bytes.ts";

/** What lists and checks need of a trajectory's record. */
export function finishedTrajectory(record: TrajectoryRecord): FinishedTrajectory {
  const { outcome, reward, success, head, tokens, policyVersions, seconds, failure } = record;
  const calls = record.turns.flatMap(({ toolCalls }) => toolCalls);
  const bytes = new Set(calls.flatMap(observationBytes));
  return {
    ...{ outcome, reward, success, head, tokens, policyVersions, seconds },
    ...(failure === undefined ? {} : { failure }),
    toolCalls: calls.length,
    tools: [...new Set(calls.map(({ tool }) => tool))],
    ...(bytes.size === 0 ? {} : { bytes: [...bytes] }),
  };
}
