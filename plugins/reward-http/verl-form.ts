import type { JsonObject } from "everturn/plugin";
import { type Form, isObject, scoreFrom } from "./form.ts";

/**
 * verl's `compute_score(data_source, solution_str, ground_truth, extra_info)` over HTTP. It sends the
 * arguments as JSON. The answer is a number, or an object with `score`, whose other numbers are metrics.
 */
export const verlForm: Form = {
  bodyOf({ task, turns }): JsonObject {
    const { data_source, reward_model, extra_info = {} } = task;
    return JSON.parse(
      JSON.stringify({
        data_source,
        solution_str: turns.map(({ action }) => action).join("\n"),
        ground_truth: reward_model.ground_truth,
        extra_info: { ...extra_info, num_turns: turns.length },
      }),
    );
  },
  scoreOf(answered, solvedFrom) {
    if (!isObject(answered)) return scoreFrom(answered, {}, solvedFrom);
    const { score, ...metrics } = answered;
    return scoreFrom(score, { success: metrics.acc, metrics }, solvedFrom);
  },
};
