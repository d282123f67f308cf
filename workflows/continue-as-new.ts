import { makeContinueAsNewFunc, type Workflow, workflowInfo } from "@temporalio/workflow";

/**
 * Whether a workflow that outlives upgrades should continue as new at its next boundary, because its history
 * is long or newer workflow code is current (`everturn resume --upgrade`).
 */
export function shouldContinueAsNew(): boolean {
  const { continueAsNewSuggested, targetWorkerDeploymentVersionChanged } = workflowInfo();
  return continueAsNewSuggested || targetWorkerDeploymentVersionChanged;
}

/**
 * Continues the workflow as new on the current code. A plain `continueAsNew` would keep the code that it
 * began with.
 */
export function continueOnCurrentCode<F extends Workflow>(...args: Parameters<F>): Promise<never> {
  return makeContinueAsNewFunc<F>({ initialVersioningBehavior: "AUTO_UPGRADE" })(...args);
}
