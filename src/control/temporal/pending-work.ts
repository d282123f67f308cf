import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from "@temporalio/client";
import {
  decodeFromPayloadsAtIndex,
  decodeOptionalFailureToOptionalError,
} from "@temporalio/common/lib/internal-non-workflow/index.js";
import { optionalTsToMs } from "@temporalio/common/lib/time.js";
import proto, { type temporal } from "@temporalio/proto";
import type { Activities } from "../../contracts/activity-roles.ts";
import { waitingAge } from "./waiting-age.ts";
import { roleOfActivity, shortReason, type Wait } from "./waits.ts";

const { PENDING_ACTIVITY_STATE_SCHEDULED: scheduled } = proto.temporal.api.enums.v1.PendingActivityState;
const { TASK_QUEUE_TYPE_ACTIVITY, TASK_QUEUE_TYPE_WORKFLOW } = proto.temporal.api.enums.v1.TaskQueueType;
const { PENDING_WORKFLOW_TASK_STATE_SCHEDULED: taskScheduled } =
  proto.temporal.api.enums.v1.PendingWorkflowTaskState;

type PendingActivity = temporal.api.workflow.v1.IPendingActivityInfo;
type Failure = temporal.api.failure.v1.IFailure | null;
type PendingTask = temporal.api.workflow.v1.IPendingWorkflowTaskInfo;

/** A wait for one activity or workflow task of a workflow. */
export interface PendingWork extends Wait {
  /** Identifies it among all. */
  id: string;
}

/** How many workflows are examined: the oldest ones. */
const looked = 24;

/** How many workflows are listed at most to find those, because 10,000 may be in progress. */
const listed = 1000;

/** After this time a task that nobody has taken counts as unclaimed, in ms. */
const untaken = 5000;

/**
 * The pending activities and workflow tasks of a run's workflows on `queue` that have been in progress for `age` ms,
 * as the server reports them. They don't include local activities.
 */
export async function pendingWork(
  client: Client,
  { run, queue, age }: { run: string; queue: string; age: number },
): Promise<PendingWork[]> {
  const now = Date.now();
  const olderThan = (ms: number) =>
    `EverturnRun = "${run}" AND ExecutionStatus = "Running" AND StartTime < "${new Date(now - ms).toISOString()}"`;
  const count = async (ms: number) => (await client.workflow.count(olderThan(ms))).count;
  const query = olderThan(await waitingAge(count, { least: looked, most: listed }, age));
  const executions: WorkflowExecutionInfo[] = [];
  for await (const execution of client.workflow.list({ query })) {
    if (execution.taskQueue === queue) executions.push(execution);
    if (executions.length === listed) break;
  }
  executions.sort((a, b) => a.startTime.getTime() - b.startTime.getTime());
  const waits: PendingWork[] = [];
  for (const { workflowId, runId } of executions.slice(0, looked)) {
    waits.push(...(await waitsOf(client, workflowId, runId)));
  }
  return executions.length > looked ? waits.map((wait) => ({ ...wait, isSample: true })) : waits;
}

/** How the server describes a failure above 4 KiB. Its cause is the failure, with a shortened message. */
const tooLarge = "Failure exceeds size limit.";

/** The message of an encrypted failure without its encrypted attributes, which the server leaves out of a shortened one. */
const shortened = "Encoded failure";

async function waitsOf(client: Client, workflowId: string, runId: string): Promise<PendingWork[]> {
  try {
    const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
    const pending = (raw.pendingActivities ?? []).filter(
      (one) => !waitsForTrajectories(one) && !isOptional(one),
    );
    const activities = await Promise.all(pending.map((one) => ofActivity(client, one, workflowId, runId)));
    const task = raw.pendingWorkflowTask;
    const info = raw.workflowExecutionInfo ?? {};
    return task ? [...activities, ...(await ofTask(client, task, info, workflowId, runId))] : activities;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return []; // it has ended meanwhile
    throw error;
  }
}

/** Whether an activity only waits for trajectories, which report what they wait for. */
function waitsForTrajectories({ activityType, state }: PendingActivity): boolean {
  return activityType?.name === ("run-trajectories" satisfies keyof Activities) && state !== scheduled;
}

/** Whether a workflow continues without an activity that no worker has taken. */
function isOptional({ activityType, state }: PendingActivity): boolean {
  return activityType?.name === ("join-step" satisfies keyof Activities) && state === scheduled;
}

async function ofActivity(
  client: Client,
  pending: PendingActivity,
  workflow: string,
  runId: string,
): Promise<PendingWork> {
  const what = pending.activityType?.name ?? "an activity";
  const due = optionalTsToMs(pending.scheduledTime) ?? Date.now();
  const isWaiting = pending.state === scheduled;
  const isPaused = pending.paused === true;
  const isUnclaimed = isWaiting && !isPaused && Date.now() - due > untaken;
  const reason = await whyItWaits();

  async function whyItWaits(): Promise<string | undefined> {
    const { activityId } = pending;
    if (isPaused)
      return `resume it with \`temporal activity unpause --workflow-id ${workflow} --activity-id ${activityId}\``;
    const queue = pending.activityOptions?.taskQueue?.name;
    const failure = await messageOf(client, pending.lastFailure);
    if (isUnclaimed && queue) {
      const pollers = whoPolls(queue, await pollersOf(client, queue, TASK_QUEUE_TYPE_ACTIVITY));
      return failure === undefined ? pollers : `${pollers}; ${failure}`;
    }
    return (isWaiting ? undefined : await heartbeatOf(client, pending)) ?? failure;
  }

  return {
    id: `${runId}/${pending.activityId}`,
    what,
    role: roleOfActivity(what),
    workflow,
    count: 1,
    attempt: pending.attempt ?? 1,
    since: Math.min(Date.now(), due, optionalTsToMs(pending.lastStartedTime) ?? due),
    isUnclaimed,
    isPaused,
    ...reasonOf(reason),
  };
}

/** The reason to wait in an activity's last heartbeat. */
async function heartbeatOf(
  { options }: Client,
  { heartbeatDetails }: PendingActivity,
): Promise<string | undefined> {
  const payloads = heartbeatDetails?.payloads;
  const said = await decodeFromPayloadsAtIndex<unknown>(options.loadedDataConverter, 0, payloads);
  return typeof said === "string" ? said : undefined;
}

/** A failure's message, decrypted if necessary. */
async function messageOf({ options }: Client, failure: Failure | undefined): Promise<string | undefined> {
  const error = await decodeOptionalFailureToOptionalError(options.loadedDataConverter, failure);
  const told = error?.message === tooLarge && error.cause instanceof Error ? error.cause : error;
  return told?.message === shortened
    ? "its message is encrypted, and too long for the server"
    : told?.message;
}

/** A workflow task in its first attempt lasts as long as its local activities, which their workers report. */
async function ofTask(
  client: Client,
  task: PendingTask,
  info: temporal.api.workflow.v1.IWorkflowExecutionInfo,
  workflow: string,
  runId: string,
): Promise<PendingWork[]> {
  const due = optionalTsToMs(task.scheduledTime) ?? Date.now();
  const attempt = task.attempt ?? 1;
  const isUnclaimed = task.state === taskScheduled && Date.now() - due > untaken;
  if (attempt === 1 && !isUnclaimed) return [];
  const failed = attempt > 1 ? await taskFailure(client, workflow, runId) : undefined;
  const reason = reasonOf(failed ?? (isUnclaimed ? await whoRuns(client, info) : undefined));
  const since = Math.min(Date.now(), optionalTsToMs(task.originalScheduledTime) ?? due, due);
  const what = "a workflow task";
  return [
    { id: runId, what, role: "orchestration", workflow, count: 1, attempt, since, isUnclaimed, ...reason },
  ];
}

/** Why a workflow's newest task failed, from the end of its history. */
async function taskFailure(client: Client, workflowId: string, runId: string): Promise<string | undefined> {
  const { workflowService, options } = client;
  const { history } = await workflowService.getWorkflowExecutionHistoryReverse({
    namespace: options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 3,
  });
  for (const event of history?.events ?? []) {
    const failure = await messageOf(client, event.workflowTaskFailedEventAttributes?.failure);
    if (failure) return failure;
    if (event.workflowTaskTimedOutEventAttributes) return "its worker did not respond";
  }
  return undefined;
}

/** A worker that polls a queue. */
interface Poller {
  build: string | undefined;
  /** Ms since its last poll, which lasts up to a minute. */
  since: number;
}

/** Who polled a queue within the last minutes. */
async function pollersOf(
  { workflowService, options }: Client,
  name: string,
  taskQueueType: number,
): Promise<Poller[]> {
  const { pollers } = await workflowService.describeTaskQueue({
    namespace: options.namespace,
    taskQueue: { name },
    taskQueueType,
  });
  return pollers.map(({ deploymentOptions, lastAccessTime }) => ({
    build: deploymentOptions?.buildId || undefined,
    since: Date.now() - (optionalTsToMs(lastAccessTime) ?? 0),
  }));
}

/** How long a poll lasts at most, in ms. */
const longestPoll = 65_000;

function whoPolls(queue: string, pollers: readonly Poller[]): string {
  const newest = Math.min(...pollers.map(({ since }) => since));
  return newest > longestPoll
    ? `no worker polls the queue ${queue}`
    : `a worker last polled the queue ${queue} ${Math.round(newest / 1000)} s ago`;
}

/** Why nobody takes a workflow task: its queue has no workers, or only some with other code. */
async function whoRuns(
  client: Client,
  info: temporal.api.workflow.v1.IWorkflowExecutionInfo,
): Promise<string> {
  const queue = info.taskQueue ?? "";
  const build = info.versioningInfo?.deploymentVersion?.buildId || undefined;
  const pollers = await pollersOf(client, queue, TASK_QUEUE_TYPE_WORKFLOW);
  const active = pollers.filter(({ since }) => since <= longestPoll);
  const others = new Set(active.map((poller) => poller.build ?? "no build"));
  if (build === undefined || active.length === 0 || others.has(build)) return whoPolls(queue, pollers);
  return `its code is build ${build}, and the workers have ${[...others].join(", ")}`;
}

function reasonOf(message: string | undefined): { reason?: string } {
  return message === undefined || message === "" ? {} : { reason: shortReason(message) };
}
