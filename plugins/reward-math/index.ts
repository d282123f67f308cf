import { markedAnswer, type RewardPlugin } from "everturn/plugin";
import { bareFormula } from "./bare.ts";
import { cleaned } from "./cleaned.ts";
import { judged } from "./judge.ts";
import { mended } from "./mended.ts";
import { quickVerdict } from "./quick-verdict.ts";
import { withoutExtras } from "./without-extras.ts";

/**
 * Reward 1 if the final answer equals the task's ground truth mathematically, else 0. Equal texts and numbers
 * are decided at once, others by math-verify in a sandbox. A pair that it can't decide in time counts as
 * different and as `undecided`.
 */
const math: RewardPlugin = {
  async score({ answer, task, config, signal }) {
    const truth = task.reward_model.ground_truth;
    const gold = cleaned(markedAnswer(truth, truth)?.text ?? truth);
    const marked = markedAnswer(answer, truth);
    const written = cleaned(marked?.text ?? namedAnswer(answer) ?? answer);
    const given = marked?.isBoxed ? withoutExtras(written, gold) : written;
    const quick = quickVerdict(gold, given);
    if (quick !== undefined) return scored(quick, { quick: 1, undecided: 0 });
    const pair = {
      gold: boxed(mended(gold)),
      answer: marked?.isBoxed ? boxed(mended(given)) : unboxed(mended(given), gold),
    };
    const verdict = await judged(pair, Number(config.timeLimit), signal);
    if (verdict === "unreadable")
      return { missing: `math-verify can read no answer in the ground truth “${truth}”` };
    return scored(verdict === "equal", { quick: 0, undecided: verdict === "undecided" ? 1 : 0 });
  },
};

export default math;

function scored(success: boolean, metrics: Record<string, number>) {
  return { reward: success ? 1 : 0, success, metrics };
}

/** The formula or single word that an answer gives after “answer is” at its end. */
function namedAnswer(answer: string): string | undefined {
  const named = /\banswer(?:\s+is)?\s*:?\s+(\S.{0,200})$/i.exec(answer.slice(-300).trimEnd())?.[1];
  const text = named === undefined ? "" : cleaned(named);
  return /^\(?[a-z]+\)?$/i.test(text) || bareFormula(text) !== undefined ? text : undefined;
}

/** Marks a text as mathematics for math-verify. */
function boxed(text: string): string {
  return `\\boxed{${text}}`;
}

/**
 * If the ground truth is a number, a comma between digits becomes a decimal point, as math-verify reads it:
 * 1000,99.
 */
function unboxed(text: string, gold: string): string {
  const isNumber = /^-?\d+,\d+$/.test(text) && /^-?[\d.]+$/.test(gold);
  return isNumber ? text : (bareFormula(text) ?? text);
}
