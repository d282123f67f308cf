import { setHandler, type WorkflowInfo, workflowInfo } from "@temporalio/workflow";
import { defined } from "../src/base/records/defined.ts";
import type { ClosedMember, RunMembersInput } from "../src/contracts/activities.ts";
import type { TrajectorySummary } from "../src/contracts/rollout.ts";
import type { TrajectoryInput } from "../src/contracts/trajectory.ts";
import { resultSummary } from "../src/run/projections/trajectory-summary.ts";
import { trajectoriesClosed } from "./progress.ts";
import { lostTrajectory } from "./run-trajectory.ts";
import { schedule } from "./schedule.ts";

/** A trajectory of a shard, and the line that describes its task to people. */
interface Member {
  own: TrajectoryInput;
  line: string;
}

/**
 * Has a worker start the trajectories, at most `concurrency` at once, and waits until all have ended. Calls `onEnded`
 * once for each. They have no parent. The worker starts each together with its first task, which takes the server
 * two transactions instead of six (decision 0133).
 */
export async function runStartedHere<One extends Member>(
  members: readonly One[],
  concurrency: number,
  onEnded: (one: One, result: TrajectorySummary) => Promise<void>,
): Promise<void> {
  const [first] = members;
  if (first === undefined) return;
  const startedAt = Date.now();
  const open = new Map(members.map((one) => [one.own.place.id, one]));
  const ending: Promise<void>[] = [];

  async function ended(one: One, closed: ClosedMember): Promise<void> {
    if ("result" in closed) return onEnded(one, closed.result);
    const { own, line } = one;
    await onEnded(one, resultSummary(await lostTrajectory(own, line, { ...closed.failure, startedAt })));
  }

  /** A worker that repeats the activity reports trajectories again. */
  function take(closed: readonly ClosedMember[]): void {
    for (const one of closed) {
      const member = open.get(one.trajectory);
      if (member === undefined) continue;
      open.delete(one.trajectory);
      const handled = ended(member, one);
      handled.catch(() => {}); // thrown when all have ended
      ending.push(handled);
    }
  }

  const { runId, currentDeploymentVersion } = workflowInfo();
  setHandler(trajectoriesClosed, ({ execution, closed }) => {
    if (execution === runId) take(closed);
  });
  const { place, ...common } = first.own;
  const trajectories = members.map(({ own, line }) => ({ place: own.place, line }));
  take(
    await schedule(
      first.own.queues,
      "run-trajectories",
      defined({
        run: place.run,
        common,
        trajectories,
        concurrency,
        version: versionOf(currentDeploymentVersion),
      }),
      { retry: untilDone },
    ),
  );
  await Promise.all(ending);
}

/** Of an activity that takes as long as its trajectories. */
const untilDone = {
  initialInterval: 200,
  backoffCoefficient: 2,
  maximumInterval: 10_000,
  maximumAttempts: 20,
};

/** The version as plain JSON. A worker without a deployment has only a build. */
function versionOf(
  current: WorkflowInfo["currentDeploymentVersion"],
): RunMembersInput["version"] | undefined {
  if (current === undefined || current.deploymentName === "") return undefined;
  return { deploymentName: current.deploymentName, buildId: current.buildId };
}
