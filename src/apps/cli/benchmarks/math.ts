import { lastBoxed } from "../../../base/text/last-boxed.ts";
import { type Benchmark, kept, textOf } from "./benchmark.ts";

/** The prompt of verl's preprocessing of GSM8K. */
const step = 'Let\'s think step by step and output the final answer after "####".';
const boxed = "Let's think step by step and output the final answer within \\boxed{}.";

export const gsm8k: Benchmark = {
  description: "GSM8K, word problems of grade school (Cobbe et al., 2021): question, answer",
  reward: "reward-math, or reward-exact-match with extract: last-number",
  task(row) {
    const question = textOf(row, "question");
    const answer = /####\s*([^\n]+)/.exec(textOf(row, "answer") ?? "")?.[1];
    if (question === undefined || answer === undefined) return undefined;
    return {
      data_source: "openai/gsm8k",
      prompt: [{ role: "user", content: `${question} ${step}` }],
      ability: "math",
      reward_model: { style: "rule", ground_truth: answer.trim().replaceAll(",", "") },
    };
  },
};

export const math: Benchmark = {
  description:
    "MATH and MATH-500 (Hendrycks et al., 2021; Lightman et al., 2023): problem, answer or solution, subject, level",
  reward: "reward-math",
  task(row) {
    const problem = textOf(row, "problem");
    const given = textOf(row, "answer");
    const answer =
      given === undefined ? lastBoxed(textOf(row, "solution") ?? "") : (lastBoxed(given) ?? given);
    if (problem === undefined || answer === undefined) return undefined;
    const tags = [textOf(row, "subject", "type"), levelOf(textOf(row, "level"))];
    return {
      data_source: "math",
      prompt: [{ role: "user", content: `${problem} ${boxed}` }],
      ability: "math",
      reward_model: { style: "rule", ground_truth: answer },
      extra_info: { ...kept(row, "unique_id"), tags: tags.filter((tag) => tag !== undefined) },
    };
  },
};

export const aime: Benchmark = {
  description: "AIME (the American Invitational Mathematics Examination): problem, answer",
  reward: "reward-math, or reward-exact-match with extract: last-number",
  task(row) {
    const problem = textOf(row, "Problem", "problem", "question");
    const answer = textOf(row, "Answer", "answer");
    if (problem === undefined || answer === undefined || !/^\d{1,3}$/.test(answer.trim())) return undefined;
    return {
      data_source: "aime",
      prompt: [{ role: "user", content: `${problem} ${boxed}` }],
      ability: "math",
      reward_model: { style: "rule", ground_truth: String(Number(answer)) },
      extra_info: kept(row, "ID", "id"),
    };
  },
};

function levelOf(level: string | undefined): string | undefined {
  return level === undefined ? undefined : level.startsWith("Level") ? level : `Level ${level}`;
}
