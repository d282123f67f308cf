import { defineReward } from "everturn/plugin";

export default defineReward({
  pure: true, // it only computes
  score({ answer, task }) {
    const success = answer.trim() === task.reward_model.ground_truth;
    return { reward: success ? 1 : 0, success };
  },
});
