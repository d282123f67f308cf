import { optionalTsToMs } from "@temporalio/common/lib/time.js";
import type { temporal } from "@temporalio/proto";
import type { SharedServer } from "./shared-server.ts";

/** When a turn came to its queue and when a worker took it, in ms. */
interface QueuedTurn {
  scheduled: number;
  started: number;
}

const namespace = "default";

/**
 * For each turn of `run`, how many turns of other runs on the server a worker took while it waited. Busy cores make all turns
 * slower, but don't change their order.
 */
export async function turnsAhead(server: SharedServer, run: string): Promise<number[]> {
  const own = await turnsOf(server, `EverturnRun = "${run}"`);
  const others = await turnsOf(server, `EverturnRun != "${run}"`);
  return own.map((turn) => others.filter((other) => isAhead(other, turn)).length);
}

function isAhead({ started }: QueuedTurn, turn: QueuedTurn): boolean {
  return turn.scheduled < started && started < turn.started;
}

async function turnsOf({ connection }: SharedServer, condition: string): Promise<QueuedTurn[]> {
  const { workflowService } = connection;
  const query = `WorkflowType = "trajectory" AND ${condition}`;
  const { executions } = await workflowService.listWorkflowExecutions({ namespace, query, pageSize: 1000 });
  const turns: QueuedTurn[] = [];
  for (const { execution } of executions) {
    const { history } = await workflowService.getWorkflowExecutionHistory({
      namespace,
      execution: execution ?? null,
    });
    turns.push(...turnsIn(history?.events ?? []));
  }
  return turns;
}

function turnsIn(events: readonly temporal.api.history.v1.IHistoryEvent[]): QueuedTurn[] {
  const scheduledAt = new Map(
    events
      .filter((one) => one.activityTaskScheduledEventAttributes?.activityType?.name === "generate-turn")
      .map((one) => [String(one.eventId), optionalTsToMs(one.eventTime) ?? 0]),
  );
  return events.flatMap((one) => {
    const scheduled = scheduledAt.get(String(one.activityTaskStartedEventAttributes?.scheduledEventId));
    return scheduled === undefined ? [] : { scheduled, started: optionalTsToMs(one.eventTime) ?? 0 };
  });
}
