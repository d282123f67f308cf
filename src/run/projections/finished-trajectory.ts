import { defined } from "../../base/records/defined.ts";
import type { FinishedTrajectory } from "../../contracts/folded-step.ts";
import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import { observationBytes } from "./observation-bytes.ts";
import { policyCalls } from "./policy-calls.ts";

/** The part of a trajectory's record that lists and checks need. */
export function finishedTrajectory(record: Trajectory): FinishedTrajectory {
  const { outcome, reward, success, head, tokens, policyVersions, seconds, failure, metrics } = record;
  const calls = record.turns.flatMap(policyCalls);
  const bytes = new Set(record.turns.flatMap(({ toolCalls }) => toolCalls.flatMap(observationBytes)));
  return defined({
    outcome,
    reward,
    success,
    head,
    tokens,
    policyVersions,
    seconds,
    failure,
    metrics,
    toolCalls: calls.length,
    tools: [...new Set(calls.map(({ tool }) => tool))],
    bytes: bytes.size === 0 ? undefined : [...bytes],
  });
}
