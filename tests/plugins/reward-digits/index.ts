import type { RewardPlugin } from "everturn/plugin";

/** The share of digits in the answer: even a random policy's rewards differ, so that every step changes the weights. */
const plugin: RewardPlugin = {
  score: ({ answer }) => ({
    reward: answer.replace(/\D/g, "").length / Math.max(1, answer.length),
    success: answer.length > 0,
  }),
};

export default plugin;
