import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from "@temporalio/client";

/** A workflow in progress. */
export interface UnderWay {
  workflowId: string;
  runId: string;
}

/** With more than this number in progress, something is awaited. A stuck run has two or three. */
const listed = 20;

/**
 * The workflows of a run on `queue` that wait in vain: none has a pending activity or task, and none of their
 * children is in progress. Empty while a trajectory is in progress, which may wait for a person or a timer.
 */
export async function idleWorkflows(
  client: Client,
  { run, queue }: { run: string; queue: string },
): Promise<UnderWay[]> {
  const query = `EverturnRun = "${run}" AND ExecutionStatus = "Running"`;
  const running = new Map<string, WorkflowExecutionInfo>();
  for await (const execution of client.workflow.list({ query })) {
    if (execution.taskQueue !== queue) continue;
    if (execution.type === "trajectory" || running.size === listed) return [];
    running.set(execution.workflowId, execution);
  }
  const idle: UnderWay[] = [];
  for (const { workflowId, runId } of running.values()) {
    const pending = await pendingOf(client, { workflowId, runId });
    if (pending === undefined || pending.isAtWork) return [];
    if (!pending.children.some((child) => running.has(child))) idle.push({ workflowId, runId });
  }
  return idle;
}

/** Undefined for a workflow that has ended meanwhile. */
async function pendingOf(
  client: Client,
  { workflowId, runId }: UnderWay,
): Promise<{ isAtWork: boolean; children: string[] } | undefined> {
  try {
    const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
    const isAtWork = (raw.pendingActivities ?? []).length > 0 || Boolean(raw.pendingWorkflowTask);
    return { isAtWork, children: (raw.pendingChildren ?? []).map((child) => child.workflowId ?? "") };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
