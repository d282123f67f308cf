import type { GroupMember, GroupRewardPlugin } from "everturn/plugin";

/**
 * Rewards each member with the share of the others that it beats, minus the share that beats it: from 1 for
 * the best to -1 for the last, and 0 if all are equal. The sum over a group is 0.
 */
const groupRank: GroupRewardPlugin = {
  scoreGroup({ members, config }) {
    const by = String(config.by ?? "reward");
    const sign = config.best === "least" ? -1 : 1;
    const values = members.map((member) => measured(member, by));
    const known = values.filter((value) => value !== undefined);
    return values.map((value) => {
      if (value === undefined) return { missing: `the trajectory has no metric “${by}”` };
      if (known.length < 2)
        return { missing: "there is no other trajectory in its group to compare it with" };
      const worse = known.filter((other) => sign * other < sign * value).length;
      const better = known.filter((other) => sign * other > sign * value).length;
      return { reward: (worse - better) / (known.length - 1), metrics: { rank: better + 1 } };
    });
  },
};

export default groupRank;

function measured({ reward, metrics }: GroupMember, by: string): number | undefined {
  if (by === "reward") return reward;
  return Object.hasOwn(metrics, by) ? metrics[by] : undefined;
}
