import type { StepRecord } from "../../contracts/generated/step-record.ts";
import type { Call, Trajectory } from "../../contracts/generated/trajectory.ts";
import { policyCalls } from "./policy-calls.ts";

/** Fewer calls, or calls with fewer different arguments, show nothing about a tool. */
const leastCalls = 8;
const leastArguments = 4;

/** A smaller share is not worth recording. */
const leastShare = 0.9;

/** Characters of the observation that a step's record keeps. */
const keptCharacters = 200;

/**
 * The observation that nearly all calls of a step returned, although their arguments differ; undefined if there is none.
 * Only valid calls count whose observation the policy read in a further turn. Those with images or videos do not.
 */
export function commonObservation(
  trajectories: readonly Pick<Trajectory, "turns">[],
): StepRecord["commonObservation"] {
  const calls = trajectories.flatMap(({ turns }) => turns.slice(0, -1).flatMap(policyCalls)).filter(isText);
  const asked = new Set(calls.map((call) => JSON.stringify([call.tool, call.arguments])));
  if (calls.length < leastCalls || asked.size < leastArguments) return undefined;
  const counts = new Map<string, number>();
  for (const { observation } of calls) counts.set(observation, (counts.get(observation) ?? 0) + 1);
  const [text = "", count = 0] = [...counts].sort(([, one], [, other]) => other - one)[0] ?? [];
  const share = count / calls.length;
  if (share < leastShare) return undefined;
  return { text: text.slice(0, keptCharacters), share, calls: calls.length };
}

function isText({ valid, media = [] }: Call): boolean {
  return valid && media.length === 0;
}
