import type { RewardPlugin } from "everturn/plugin";
import { numbersOf, plainDigits } from "./numbers.ts";

/**
 * Reward 1 if the final answer, or its last number, equals the task's ground truth, else 0. Texts are
 * compared without surrounding spaces, numbers by value.
 */
const exactMatch: RewardPlugin = {
  score({ answer, task, config }) {
    const truth = task.reward_model.ground_truth;
    const success = config.extract === "last-number" ? endsWith(answer, truth) : isSame(answer, truth);
    return { reward: success ? 1 : 0, success };
  },
};

export default exactMatch;

/** Whether a text's last number equals the only number in the ground truth. */
function endsWith(answer: string, truth: string): boolean {
  const [wanted, ...others] = numbersOf(truth);
  const given = numbersOf(answer).at(-1);
  return wanted !== undefined && others.length === 0 && given?.value === wanted.value;
}

function isSame(answer: string, truth: string): boolean {
  const [given, wanted] = [answer.trim(), truth.trim()];
  const [one, other] = [numberOf(given), numberOf(wanted)];
  if (one !== undefined && other !== undefined) return one === other;
  return given !== "" && given === wanted;
}

/**
 * The value of a text that consists of a number. A point may follow the number. A currency makes it a
 * different text.
 */
function numberOf(text: string): string | undefined {
  const [first] = numbersOf(text);
  const isAlone = first?.text === plainDigits(text).replace(/\.$/, "") && !/\p{Sc}/u.test(text);
  return isAlone ? first.value : undefined;
}
