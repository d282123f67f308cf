import { Context } from "@temporalio/activity";
import { WorkflowNotFoundError } from "@temporalio/client";
import type { RunActivities } from "../src/contracts/activities.ts";

/**
 * Ends the shards of a run that began `before` a time, with their trajectories: an earlier training workflow started
 * them. What these finished is in the journal. An attempt that comes late ends none that were started since.
 */
export const endShards: RunActivities["end-shards"] = async ({ run, before }) => {
  const { workflow } = Context.current().client;
  const query = [
    `WorkflowType = "shard" AND EverturnRun = "${run}"`,
    `ExecutionStatus = "Running" AND StartTime < "${before}"`,
  ].join(" AND ");
  for await (const { workflowId, runId } of workflow.list({ query })) {
    try {
      await workflow.getHandle(workflowId, runId).terminate("its training workflow has ended");
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error; // it has ended meanwhile
    }
  }
};
