import { defineReward } from "everturn/plugin";

/** 1 if the last number of the final answer is the price, else 0. */
export default defineReward({
  pure: true, // it only computes
  score({ answer, task }) {
    const said = answer.match(/\d+/g)?.at(-1);
    const success = said === task.reward_model.ground_truth;
    return { reward: success ? 1 : 0, success };
  },
});
