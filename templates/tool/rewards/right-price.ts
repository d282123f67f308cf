import { defineReward } from "everturn/plugin";

export default defineReward({
  pure: true, // it only computes
  score({ answer, task }) {
    const success = answer.match(/\d+/g)?.at(-1) === task.reward_model.ground_truth;
    return { reward: success ? 1 : 0, success };
  },
});
