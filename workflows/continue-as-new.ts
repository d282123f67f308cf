import { makeContinueAsNewFunc, type Workflow, workflowInfo } from "@temporalio/workflow";

/**
 * Whether a workflow that outlives upgrades should continue as new at its next boundary: its history has become long,
 * or newer workflow code is current (`everturn resume --upgrade`).
 */
export function shouldContinueAsNew(): boolean {
  const { continueAsNewSuggested, targetWorkerDeploymentVersionChanged } = workflowInfo();
  return continueAsNewSuggested || targetWorkerDeploymentVersionChanged;
}

/** Continues the workflow as new on the code that is current. A plain `continueAsNew` stays on the code it began with. */
export function continueOnCurrentCode<F extends Workflow>(...args: Parameters<F>): Promise<never> {
  return makeContinueAsNewFunc<F>({ initialVersioningBehavior: "AUTO_UPGRADE" })(...args);
}
