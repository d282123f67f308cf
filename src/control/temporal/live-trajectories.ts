import {
  ApplicationFailure,
  type Client,
  isGrpcDeadlineError,
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from "@temporalio/client";
import { rootCause } from "@temporalio/common";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { LiveStatus, OrderName, Transcript } from "../../contracts/orders.ts";
import { grpcCodes } from "./grpc-codes.ts";

/** How long an order or a query waits for a worker, in ms. */
const patience = 60_000;

/** The ids of a run's trajectories in progress; with `isWaiting`, only those that wait for a person. */
export async function liveTrajectories(client: Client, run: string, isWaiting = false): Promise<string[]> {
  const conditions = [
    `WorkflowType = "trajectory" AND EverturnRun = "${run}" AND ExecutionStatus = "Running"`,
    ...(isWaiting ? ['EverturnWaiting IN ("approval", "answer")'] : []),
  ];
  const ids: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query: conditions.join(" AND ") })) {
    ids.push(workflowId);
  }
  return ids.sort();
}

/** How many of a run's trajectories wait for a person: for approval, for an answer, or because they are paused. */
export async function waitingCount(client: Client, run: string): Promise<number> {
  const query = `EverturnRun = "${run}" AND ExecutionStatus = "Running" AND EverturnWaiting IS NOT NULL`;
  return (await client.workflow.count(query)).count;
}

/** Gives a live trajectory an order. Throws ORDER_REFUSED, ORDER_UNANSWERED, TRAJECTORY_NOT_LIVE. */
export async function giveOrder(
  client: Client,
  trajectory: string,
  order: OrderName,
  given: object = {},
): Promise<LiveStatus> {
  const update = () =>
    client.workflow.getHandle(trajectory).executeUpdate<LiveStatus, [object]>(order, { args: [given] });
  try {
    return await client.withDeadline(Date.now() + patience, update);
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) {
      const reason = refusalReason(error.cause) ?? rootCause(error.cause) ?? error.message;
      throw new EverturnError("ORDER_REFUSED", { order, trajectory, reason });
    }
    throw unanswered(error, trajectory, order);
  }
}

/** Asks a live trajectory for its transcript. Throws ORDER_UNANSWERED, TRAJECTORY_NOT_LIVE. */
export async function askTranscript(client: Client, trajectory: string): Promise<Transcript> {
  const query = () => client.workflow.getHandle(trajectory).query<Transcript>("transcript");
  try {
    return await client.withDeadline(Date.now() + patience, query);
  } catch (error) {
    throw unanswered(error, trajectory, "transcript");
  }
}

function unanswered(error: unknown, trajectory: string, order: string): unknown {
  if (error instanceof WorkflowNotFoundError) {
    return new EverturnError("TRAJECTORY_NOT_LIVE", { trajectory, reason: "it has ended" });
  }
  const isLate = error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isGrpcDeadlineError(error);
  if (!isLate && !hasNoWorker(error)) return error;
  return new EverturnError("ORDER_UNANSWERED", { trajectory, order, seconds: patience / 1000 });
}

/** Whether the server refused a query because no worker has polled lately, which it does immediately. */
function hasNoWorker(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && isGrpcServiceError(cause) && cause.code === grpcCodes.failedPrecondition;
}

/** The plain reason in a workflow's refusal of an order. */
function refusalReason(cause: unknown): string | undefined {
  if (!(cause instanceof ApplicationFailure) || cause.type !== "ORDER_REFUSED") return undefined;
  const [params] = cause.details ?? [];
  if (typeof params !== "object" || params === null || !("reason" in params)) return undefined;
  return String(params.reason);
}
