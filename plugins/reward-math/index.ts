import type { RewardPlugin } from "everturn/plugin";
import { judged } from "./judge.ts";
import { mended } from "./mended.ts";
import { quickVerdict } from "./quick-verdict.ts";

/**
 * Reward 1 if the final answer equals the task's ground truth as mathematics, else 0: equal texts and numbers at once, all else by
 * math-verify in a sandbox. A pair that it can't decide in its time is not equal, and counted as `undecided`.
 */
const math: RewardPlugin = {
  async score({ answer, task, config, signal }) {
    const gold = task.reward_model.ground_truth;
    const quick = quickVerdict(gold, answer);
    if (quick !== undefined) return scored(quick, { quick: 1, undecided: 0 });
    const pair = { gold: mended(boxed(gold)), answer: mended(answer) };
    const verdict = await judged(pair, Number(config.timeLimit), signal);
    if (verdict === "unreadable")
      return { missing: `math-verify can read no answer in the ground truth “${gold}”` };
    return scored(verdict === "equal", { quick: 0, undecided: verdict === "undecided" ? 1 : 0 });
  },
};

export default math;

function scored(success: boolean, metrics: Record<string, number>) {
  return { reward: success ? 1 : 0, success, metrics };
}

/** As math-verify wants a ground truth: it is mathematics, so it is marked as such. */
function boxed(gold: string): string {
  return gold.includes("\\boxed") ? gold : `\\boxed{${gold}}`;
}
