import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from "@temporalio/client";

/** A workflow that is under way. */
export interface UnderWay {
  workflowId: string;
  runId: string;
}

/** With more than these under way something is awaited; a run that stands still has two or three. */
const listed = 20;

/**
 * The workflows of a run on `queue` that wait in vain: none has an activity or a task pending, and no
 * child of theirs is under way. None where a trajectory is under way, which may wait for a person or for a time.
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

/** Undefined of a workflow that has ended meanwhile. */
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
