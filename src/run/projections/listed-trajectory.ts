import type { FinishedTrajectory } from "../../contracts/folded-step.ts";
import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import { outcomes } from "../../contracts/outcomes.ts";

/** A finished trajectory in a list. */
export interface ListedTrajectory extends Pick<Trajectory, "id" | "outcome" | "reward" | "success"> {
  turns: number;
  toolCalls: number;
  /** The tokens of prompt, actions and observations. */
  tokens: number;
  seconds: number;
}

/** Its entry in a list, from its summary. */
export function listedTrajectory(id: string, finished: FinishedTrajectory): ListedTrajectory {
  const { outcome, reward, success, policyVersions, toolCalls, tokens, seconds } = finished;
  const allTokens = tokens.prompt + tokens.action + tokens.observation;
  const turns = policyVersions.length;
  return { id, outcome, reward, success, turns, toolCalls, tokens: allTokens, seconds };
}

/** The columns that a list shows, in the order in which `listedRow` takes them. */
export const listedColumns = [
  "trajectory",
  "outcome",
  "reward",
  "success",
  "turns",
  "tool_calls",
  "tokens",
  "seconds",
] as const;

/** An entry in a list, from the values of `listedColumns`. */
export function listedRow(values: readonly unknown[]): ListedTrajectory {
  const [id, outcome, reward, success, turns, toolCalls, tokens, seconds] = values;
  if (!isOutcome(outcome)) throw new Error(`A trajectory ended in a way that is unknown: ${outcome}.`);
  return {
    id: String(id),
    outcome,
    reward: Number(reward),
    success: success === true,
    turns: Number(turns),
    toolCalls: Number(toolCalls),
    tokens: Number(tokens),
    seconds: Number(seconds),
  };
}

function isOutcome(value: unknown): value is ListedTrajectory["outcome"] {
  return typeof value === "string" && Object.hasOwn(outcomes, value);
}
