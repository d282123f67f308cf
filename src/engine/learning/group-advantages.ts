import type { Episode } from "./gae.ts";

/** Added to a group's standard deviation, so that equal rewards don't divide by zero. */
const epsilon = 1e-6;

/**
 * Subtracts from each number the mean of its group. With `scale`, also divides by the group's standard deviation (n −
 * 1).
 */
export function groupAdvantages(
  rewards: readonly number[],
  groups: readonly string[],
  scale: boolean,
): number[] {
  const statistics = new Map(
    [...byGroup(rewards, groups)].map(([group, members]) => [group, meanAndDeviation(members)]),
  );
  return rewards.map((reward, index) => {
    const { mean, deviation } = statistics.get(groups[index]!)!;
    return (reward - mean) / (scale ? deviation + epsilon : 1);
  });
}

/** Subtracts from each number the mean of the others in its group; 0 for a group of one (RLOO, arXiv 2402.14740). */
export function leaveOneOutAdvantages(rewards: readonly number[], groups: readonly string[]): number[] {
  const members = byGroup(rewards, groups);
  return rewards.map((reward, index) => {
    const group = members.get(groups[index]!)!;
    if (group.length === 1) return 0;
    const others = group.reduce((sum, one) => sum + one, 0) - reward;
    return reward - others / (group.length - 1);
  });
}

/**
 * Returns advantages with credit by turn. Rewards of turns are centered (with `scale` also scaled) over all turns of
 * the group. Each token gets the sum over its turn and the following ones (GRPO with process supervision, arXiv
 * 2402.03300, 4.1.3).
 */
export function turnGroupAdvantages(
  episodes: readonly Episode[],
  groups: readonly string[],
  scale: boolean,
): Float32Array[] {
  const turnRewards = episodes.map(rewardsOfTurns);
  const owners = turnRewards.flatMap((rewards, index) => rewards.map(() => groups[index]!));
  const centred = groupAdvantages(turnRewards.flat(), owners, scale);
  let start = 0;
  return episodes.map(({ turns }, index) => {
    const own = centred.slice(start, start + turnRewards[index]!.length);
    start += own.length;
    return Float32Array.from(turns, (turn) => own.slice(turn).reduce((sum, reward) => sum + reward, 0));
  });
}

/** Returns the reward of each turn of an episode: the sum of its tokens' rewards. */
export function rewardsOfTurns({ rewards, turns }: Episode): number[] {
  const sums: number[] = [];
  turns.forEach((turn, at) => {
    sums[turn] = (sums[turn] ?? 0) + rewards[at]!;
  });
  return sums;
}

/**
 * Whether rewards compared within a group, of trajectories or of turns, differ and so teach something (DAPO's dynamic
 * sampling, arXiv 2503.14476).
 */
export function hasRewardVariance(rewards: readonly number[]): boolean {
  return rewards.some((reward) => reward !== rewards[0]);
}

/** Returns the members of each group, in order. */
export function byGroup<T>(members: readonly T[], groups: readonly string[]): Map<string, T[]> {
  const found = new Map<string, T[]>();
  members.forEach((member, index) => {
    const group = found.get(groups[index]!) ?? [];
    found.set(groups[index]!, group);
    group.push(member);
  });
  return found;
}

function meanAndDeviation(numbers: readonly number[]): { mean: number; deviation: number } {
  const mean = numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
  const squares = numbers.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, deviation: Math.sqrt(squares / Math.max(1, numbers.length - 1)) };
}
