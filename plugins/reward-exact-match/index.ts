import type { RewardPlugin } from "everturn/plugin";

/**
 * Reward 1 if the final answer equals the task's ground truth, else 0. Spaces around it, thousands separators, a
 * leading + and trailing zeros after the point don't count.
 */
const exactMatch: RewardPlugin = {
  score({ answer, task, config }) {
    const given = config.extract === "last-number" ? lastNumber(answer) : answer;
    const success =
      normalized(given) !== "" && normalized(given) === normalized(task.reward_model.ground_truth);
    return { reward: success ? 1 : 0, success };
  },
};

export default exactMatch;

function lastNumber(text: string): string {
  return text.match(/[-+]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)/g)?.at(-1) ?? "";
}

function normalized(text: string): string {
  const bare = text.trim();
  if (!/^[-+]?(\d+|\d{1,3}(,\d{3})+)(\.\d*)?$/.test(bare)) return bare;
  const plain = bare
    .replaceAll(",", "")
    .replace(/^\+/, "")
    .replace(/\.0*$|(\.\d*?)0+$/, "$1");
  return plain === "-0" ? "0" : plain;
}
