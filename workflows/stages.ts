/** The stage of a step's trajectories: `step-0003`. */
export function stepStage(step: number): string {
  return `step-${padded(step)}`;
}

/** The stage of an evaluation's trajectories: `evaluation-v0021`. */
export function evaluationStage(policyVersion: number): string {
  return `evaluation-v${padded(policyVersion)}`;
}

function padded(value: number): string {
  return String(value).padStart(4, "0");
}
