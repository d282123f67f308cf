import { defined } from "../../base/records/defined.ts";
import type { ResolvedReward } from "../../contracts/plan.ts";
import type { Score, Unscored } from "../../contracts/reward.ts";

/** The score that one of a pipeline's rewards gave a trajectory. */
export interface PartScore {
  part: Pick<ResolvedReward, "part" | "weight">;
  score: Score | Unscored;
}

/**
 * Combines a trajectory's scores. The reward is the sum of the parts by their weights. The trajectory is
 * solved if the first part with a weight reports success, or the first part if none has a weight. A part with
 * a name becomes a metric of this name, and its own metrics become name.metric. Missing scores count in no
 * sum.
 */
export function addedScores(parts: readonly PartScore[]): Score {
  const had = parts.flatMap(({ part, score }) => ("missing" in score ? [] : [{ ...part, score }]));
  const weighed = had.filter(({ weight }) => weight !== 0);
  const turns = weighed.flatMap(({ weight, score }) => (score.turns ? [scaled(score.turns, weight)] : []));
  const metrics = Object.assign({}, ...had.map(({ part, score }) => namedMetrics(part, score)));
  return defined({
    reward: weighed.reduce((total, { weight, score }) => total + weight * score.reward, 0),
    success: (weighed[0] ?? had[0])?.score.success ?? false,
    metrics: Object.keys(metrics).length === 0 ? undefined : metrics,
    turns: turns.length === 0 ? undefined : addedTurns(turns),
  });
}

/** Adds up turn rewards, turn by turn. */
export function addedTurns(all: readonly (readonly number[])[]): number[] {
  const [first = []] = all;
  return first.map((_, turn) => all.reduce((total, turns) => total + (turns[turn] ?? 0), 0));
}

function scaled(turns: readonly number[], weight: number): number[] {
  return turns.map((reward) => weight * reward);
}

function namedMetrics(part: string | undefined, { reward, metrics = {} }: Score): Record<string, number> {
  if (part === undefined) return metrics;
  const own = Object.entries(metrics).map(([name, value]) => [`${part}.${name}`, value]);
  return { [part]: reward, ...Object.fromEntries(own) };
}
