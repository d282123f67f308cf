/** Returns the stage of a step's trajectories: `step-0003`. */
export function stepStage(step: number): string {
  return `step-${padded(step)}`;
}

/** Returns the step of a stage's trajectories; undefined for evaluations and forks. */
export function stepOf(stage: string): number | undefined {
  const number = /^step-(\d+)$/.exec(stage)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** Returns the stage of a run's own evaluation of a policy version: `evaluation-v0021`. */
export function evaluationStage(policyVersion: number): string {
  return `evaluation-v${padded(policyVersion)}`;
}

/** Returns the policy version that such a stage evaluates; undefined for other stages. */
export function evaluatedVersion(stage: string): number | undefined {
  const number = /^evaluation-v(\d+)$/.exec(stage)?.[1];
  return number === undefined ? undefined : Number(number);
}

function padded(value: number): string {
  return String(value).padStart(4, "0");
}
