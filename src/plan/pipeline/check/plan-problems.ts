import type { Problem } from "../../../base/validation/problem.ts";
import { formatProblems } from "./format-problems.ts";
import { imageProblems } from "./image-problems.ts";
import { learningProblems } from "./learning-problems.ts";
import type { LoadedPlan } from "./loaded-plan.ts";
import { mixProblems } from "./mix-problems.ts";
import { policyProblems } from "./policy-problems.ts";
import { refusedTaskProblems } from "./refused-tasks.ts";
import { templateProblems } from "./template-check.ts";

type Check = (loaded: LoadedPlan) => readonly Problem[] | Promise<readonly Problem[]>;

const checks: readonly Check[] = [
  formatProblems,
  templateProblems,
  policyProblems,
  learningProblems,
  mixProblems,
  ({ preflight }) => preflight.problems,
  refusedTaskProblems,
  imageProblems,
];

/** Returns all problems of a plan, in the order of the checks. */
export async function planProblems(loaded: LoadedPlan): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const check of checks) problems.push(...(await check(loaded)));
  return problems;
}
