import type { RewardPlugin, Score } from "everturn/plugin";

/** Never answers where the trajectory's answer is "hang". */
const plugin: RewardPlugin = {
  score: ({ answer }) =>
    answer === "hang" ? new Promise<Score>(() => {}) : { reward: 1, success: true, metrics: { length: 2 } },
};

export default plugin;
