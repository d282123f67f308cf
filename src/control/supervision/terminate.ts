import type { SupervisedRun } from "./supervised-run.ts";

/**
 * Terminates workflows that an interrupted command started: nobody will work on their queues again, so they would
 * stay open forever. It ignores those that have not started or have ended, and a server that is gone.
 */
export async function terminate({ client }: SupervisedRun, workflowIds: readonly string[]): Promise<void> {
  const terminating = workflowIds.map((id) =>
    client.withDeadline(Date.now() + 2000, () => client.workflow.getHandle(id).terminate("interrupted")),
  );
  await Promise.allSettled(terminating);
}
