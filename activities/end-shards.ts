import { Context } from "@temporalio/activity";
import { WorkflowNotFoundError } from "@temporalio/client";
import type { RunActivities } from "../src/contracts/activities.ts";

/**
 * Terminates the shards that an earlier training workflow of the run started `before` a time, and their
 * trajectories. The journal keeps the trajectories that they finished. A late attempt ends no shard that
 * started after that time. Forks are trajectories of no shard and have no policy version in the list of workflows.
 */
export const endShards: RunActivities["end-shards"] = async ({ run, before }) => {
  const { workflow } = Context.current().client;
  const query = [
    `WorkflowType IN ("shard", "trajectory") AND EverturnRun = "${run}" AND EverturnPolicyVersion IS NOT NULL`,
    `ExecutionStatus = "Running" AND StartTime < "${before}"`,
  ].join(" AND ");
  for await (const { workflowId, runId } of workflow.list({ query })) {
    try {
      await workflow.getHandle(workflowId, runId).terminate("its training workflow has ended");
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error; // it has ended in the meantime
    }
  }
};
