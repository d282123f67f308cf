/** The stage of a step's trajectories: `step-0003`. */
export function stepStage(step: number): string {
  return `step-${padded(step)}`;
}

/** The step that a stage's trajectories are made for; undefined for evaluations and forks. */
export function stepOf(stage: string): number | undefined {
  const number = /^step-(\d+)$/.exec(stage)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** The stage of the evaluation of a policy version that the run makes itself: `evaluation-v0021`. */
export function evaluationStage(policyVersion: number): string {
  return `evaluation-v${padded(policyVersion)}`;
}

/** The policy version that such a stage evaluates; undefined for other stages. */
export function evaluatedVersion(stage: string): number | undefined {
  const number = /^evaluation-v(\d+)$/.exec(stage)?.[1];
  return number === undefined ? undefined : Number(number);
}

function padded(value: number): string {
  return String(value).padStart(4, "0");
}
