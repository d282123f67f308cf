import { setTimeout as sleep } from "node:timers/promises";
import { Context } from "@temporalio/activity";
import {
  type WorkflowClient,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  type WorkflowHandle,
  type WorkflowHandleWithStartDetails,
  WorkflowNotFoundError,
  type WorkflowStartOptions,
} from "@temporalio/client";
import { untilAborted, withOwnSignal } from "../src/base/async/abort-signals.ts";
import { defined } from "../src/base/records/defined.ts";
import {
  type ClosedMember,
  type ClosedSignal,
  type RunActivities,
  type RunMembersInput,
  trajectoriesClosedSignal,
} from "../src/contracts/activities.ts";
import type { TrajectorySummary } from "../src/contracts/rollout.ts";
import type { TrajectoryInput, TrajectoryResult } from "../src/contracts/trajectory.ts";
import type { LocalEnds } from "../src/control/temporal/local-ends.ts";
import { readBuilds } from "../src/control/temporal/workflow-builds.ts";
import { readSummary } from "../src/results/recovery/read-summary.ts";
import type { OpenRun } from "../src/run/folder/open-runs.ts";
import { summary } from "../src/run/projections/cut.ts";
import { lossOf } from "../src/run/projections/lost-workflow.ts";
import { startAttributes } from "../src/run/projections/start-attributes.ts";
import { resultSummary } from "../src/run/projections/trajectory-summary.ts";
import { trajectoryKey } from "../src/run/store/keys.ts";
import { runJournal } from "../src/run/trajectory/run-journal.ts";

type MemberWorkflow = (input: TrajectoryInput) => Promise<TrajectoryResult>;
type MemberHandle = WorkflowHandle<MemberWorkflow> & Partial<WorkflowHandleWithStartDetails<MemberWorkflow>>;
type Member = RunMembersInput["trajectories"][number];

/**
 * Milliseconds that ended trajectories wait for others, so that a signal reports many. A synchronous step needs all of
 * them, and most quick ones end before the first report.
 */
const reporting = { asynchronous: 500, synchronous: 1000 };

/**
 * Starts the trajectories of a shard, at most `concurrency` at once, and waits until all have ended. The server hands
 * out the first task of each in its answer to the start, so most end in this process, and the server is asked only
 * about the others. Reports ended trajectories to the shard by signal and returns the rest. A repeated attempt
 * continues with the trajectories that the one before started. It also waits until the workflows of recorded
 * trajectories have closed. If the shard has been terminated or cancelled, it terminates them. When its worker is
 * `stopping`, it leaves the rest to another attempt.
 */
export function runTrajectories(
  openRun: (run: string) => Promise<OpenRun>,
  { stopping, ends }: { stopping: AbortSignal; ends: LocalEnds },
): RunActivities["run-trajectories"] {
  return async (input) => {
    const context = Context.current();
    const { workflow } = context.client;
    const shard = shardOf(context);
    const isRepeated = context.info.attempt > 1;
    const opened = await openRun(input.run);
    const starting = { since: context.info.scheduledTimestampMs, isEager: await isSoleBuild(opened) };
    const live = new Set<MemberHandle>();
    const waiting = [...input.trajectories];
    const unreported: ClosedMember[] = [];

    async function lane(): Promise<void> {
      for (let member = waiting.shift(); member !== undefined; member = waiting.shift()) {
        unreported.push(await closed(member));
      }
    }

    async function closed(member: Member): Promise<ClosedMember> {
      const trajectory = member.place.id;
      const known = isRepeated ? await recordedResult(opened, input, member) : undefined;
      if (known === undefined) return endOf(trajectory, await started(workflow, input, member, starting));
      const late = await runningSince(workflow, trajectory, starting.since);
      if (late !== undefined) await endOf(trajectory, late); // otherwise it could stay open after the run
      return { trajectory, result: known };
    }

    async function endOf(trajectory: string, handle: MemberHandle): Promise<ClosedMember> {
      live.add(handle);
      try {
        const own = handle.eagerlyStarted === true ? handle.firstExecutionRunId : undefined; // begins in this process
        const here = own === undefined ? undefined : await ends.resultOf<TrajectoryResult>(own);
        return { trajectory, result: resultSummary(here?.result ?? (await handle.result())) };
      } catch (error) {
        const failure = error instanceof WorkflowFailedError ? lossOf(error.cause) : undefined;
        if (failure === undefined) throw error;
        return { trajectory, failure };
      } finally {
        live.delete(handle);
      }
    }

    const ended = Promise.all(Array.from({ length: input.concurrency }, lane));
    const wait = input.common.newest === true ? reporting.asynchronous : reporting.synchronous;

    async function report(): Promise<void> {
      const handle = workflow.getHandle(shard.workflowId, shard.runId);
      while (!(await Promise.race([ended.then(() => true), sleep(wait, false)]))) {
        if (unreported.length === 0) continue;
        const news = { execution: shard.runId, closed: unreported.splice(0) };
        await handle.signal<[ClosedSignal]>(trajectoriesClosedSignal, news);
      }
    }

    try {
      await withOwnSignal(stopping, (own) => Promise.race([report(), context.cancelled, ofEnding(own)]));
      return unreported;
    } catch (error) {
      waiting.length = 0;
      if (!(await isRunning(workflow, shard))) await terminate(live);
      throw error;
    }
  };
}

/** Rejects when the worker takes no new work. */
async function ofEnding(stopping: AbortSignal): Promise<never> {
  await untilAborted(stopping);
  throw new Error("The worker ends, so another one waits for the trajectories.");
}

/** The workflow that asked for the trajectories. */
function shardOf({ info }: Context): { workflowId: string; runId: string } {
  const { workflowExecution } = info;
  if (workflowExecution === undefined) throw new Error("Only a shard runs trajectories.");
  return workflowExecution;
}

/**
 * Whether a single build serves the run. With several, the SDK would give the first task to the worker of any of them.
 */
async function isSoleBuild({ folder }: OpenRun): Promise<boolean> {
  return (await readBuilds(folder)).length < 2;
}

/** The result of a trajectory that an earlier attempt saw end, or might have seen. */
async function recordedResult(
  opened: OpenRun,
  { common }: RunMembersInput,
  { place }: Member,
): Promise<TrajectorySummary | undefined> {
  const store = runJournal(opened);
  if ((await store.read(trajectoryKey(place))) === undefined) return undefined;
  return readSummary({ plan: opened.plan, store }, place.id, common.policyVersion);
}

/**
 * Starts a trajectory, or finds the one that another attempt has started. Replaces a workflow of the same trajectory
 * that still runs for an earlier shard, which started before `since`, in ms. With `isEager` it takes its first task
 * along.
 */
async function started(
  workflow: WorkflowClient,
  { common, version }: RunMembersInput,
  { place, line }: Member,
  { since, isEager }: { since: number; isEager: boolean },
): Promise<MemberHandle> {
  const input: TrajectoryInput = { ...common, place };
  const start = (workflowIdConflictPolicy: "FAIL" | "TERMINATE_EXISTING") =>
    workflow.start(
      "trajectory",
      defined<WorkflowStartOptions<MemberWorkflow>>({
        workflowId: place.id,
        taskQueue: common.queues.orchestration,
        args: [input],
        typedSearchAttributes: startAttributes(input),
        staticSummary: summary(line),
        workflowIdConflictPolicy,
        requestEagerStart: isEager,
        versioningOverride: version && { pinnedTo: version },
      }),
    );
  try {
    return await start("FAIL");
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const { startTime, runId } = await workflow.getHandle(place.id).describe();
    if (startTime.getTime() < since) return start("TERMINATE_EXISTING");
    return workflow.getHandle<MemberWorkflow>(place.id, runId, { followRuns: true });
  }
}

/** The running workflow of a trajectory that was started at `since` or later, in ms. Undefined if there is none. */
async function runningSince(
  workflow: WorkflowClient,
  trajectory: string,
  since: number,
): Promise<WorkflowHandle<MemberWorkflow> | undefined> {
  const handle = workflow.getHandle<MemberWorkflow>(trajectory);
  try {
    const { status, startTime } = await handle.describe();
    return status.name === "RUNNING" && startTime.getTime() >= since ? handle : undefined;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined; // the server has forgotten it
    throw error;
  }
}

async function isRunning(
  workflow: WorkflowClient,
  { workflowId, runId }: { workflowId: string; runId: string },
) {
  const { status } = await workflow.getHandle(workflowId, runId).describe();
  return status.name === "RUNNING";
}

/** Terminates the trajectories of a shard that has ended. */
async function terminate(handles: Iterable<WorkflowHandle<MemberWorkflow>>): Promise<void> {
  await Promise.all(
    Array.from(handles, async (handle) => {
      try {
        await handle.terminate("its shard has ended");
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error; // it has ended in the meantime
      }
    }),
  );
}
