import type { RewardPlugin, Task } from "everturn/plugin";
import { squadScores } from "./squad.ts";

/**
 * Rewards exact match or F1 with the best gold answer, as in SQuAD's official script. It reads the last
 * `<answer>`, the last line, or the whole answer. Both values are metrics.
 */
const qa: RewardPlugin = {
  score({ answer, task, config }) {
    const given = extracted(answer, String(config.extract ?? "answer-tag"));
    const golds = goldAnswers(task);
    if (golds === undefined) return { missing: "reward_model.answers of the task is not a list of texts" };
    if (given === undefined) return { reward: 0, success: false, metrics: { em: 0, f1: 0, answered: 0 } };
    const { em, f1 } = squadScores(given, golds);
    return { reward: config.metric === "f1" ? f1 : em, success: em === 1, metrics: { em, f1, answered: 1 } };
  },
};

export default qa;

/** The part of an answer that counts. Undefined if it is missing. */
function extracted(answer: string, how: string): string | undefined {
  const tagged = [...answer.matchAll(/<answer>([\s\S]*?)<\/answer>/g)].at(-1)?.[1];
  if (how === "answer-tag") return tagged?.trim();
  if (tagged !== undefined) return tagged.trim();
  const text = answer.trim();
  const line = how === "last-line" ? text.split("\n").at(-1) : text;
  return line?.replace(/^(?:the )?(?:final )?answer(?: is)?:\s*/i, "") || undefined;
}

/** The gold answers: `reward_model.ground_truth`, and further ones in `reward_model.answers`. */
function goldAnswers({ reward_model: { ground_truth, answers = [] } }: Task): string[] | undefined {
  if (!Array.isArray(answers) || !answers.every((one) => typeof one === "string")) return undefined;
  return ground_truth === "" && answers.length > 0 ? answers : [ground_truth, ...answers];
}
