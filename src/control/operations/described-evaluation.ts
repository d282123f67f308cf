import { counted } from "../../base/text/format.ts";
import type { ComparedEvaluation } from "../../results/evaluations/compare.ts";

/** An evaluation that is compared, in a line: its id, version, tasks, and how it was drawn. */
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
