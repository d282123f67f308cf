import type { TrajectoryDetail } from "./trajectory-detail.ts";

/** A finished trajectory with the fields of verl's `rollout_data_dir`. */
export function verlLine({ record, segments }: TrajectoryDetail): object {
  const [input, ...output] = segments.map(({ text }) => text);
  return {
    input: input ?? "",
    output: output.join(""),
    gts: record?.task.reward_model.ground_truth,
    score: record?.reward,
    step: record?.step,
    ...record?.metrics,
  };
}
