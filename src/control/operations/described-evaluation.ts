import { counted } from "../../base/text/format.ts";
import type { ComparedEvaluation } from "../../results/evaluations/compare.ts";

/** A line about an evaluation in a comparison: its id, version, tasks, and sampling. */
export function describedEvaluation({
  id,
  policyVersion,
  tasks,
  samples,
  temperature = 0,
}: ComparedEvaluation): string {
  const drawn =
    temperature === 0 ? "greedy" : `${counted(samples, "sample")} each at temperature ${temperature}`;
  return `${id}: policy version ${policyVersion}, ${counted(tasks, "task")}, ${drawn}`;
}
