import type { RunSession } from "./session.ts";

/**
 * Ends workflows that a command started, when it is interrupted: nobody will work on their queues again, so they would
 * stay under way for ever. One that had not started, or has ended, is passed over, and so is a server that is gone.
 */
export async function terminate({ client }: RunSession, workflowIds: readonly string[]): Promise<void> {
  const terminating = workflowIds.map((id) =>
    client.withDeadline(Date.now() + 2000, () => client.workflow.getHandle(id).terminate("interrupted")),
  );
  await Promise.allSettled(terminating);
}
