import { defineReward } from "everturn/plugin";

/** Half a reward for an answer that is not far off. */
export default defineReward({
  pure: true,
  config: {
    type: "object",
    additionalProperties: false,
    properties: { within: { type: "number", default: 1 } },
  },
  score({ answer, task, config }) {
    const off = Math.abs(Number(answer) - Number(task.reward_model.ground_truth));
    if (Number.isNaN(off)) return { reward: 0, success: false };
    const reward = off === 0 ? 1 : off <= config.within ? 0.5 : 0;
    return { reward, success: off === 0, metrics: Number.isFinite(off) ? { off } : {} };
  },
});
