import { durable } from "../src/control/temporal/durable.ts";
import type { RoleActivities, RoleOptions } from "../src/control/temporal/worker.ts";
import { type RunTasks, runTasks } from "../src/plan/tasks/run-tasks.ts";
import { toolFunctions, toolName } from "../src/plugin/registry/tool-functions.ts";
import { housekeeping } from "../src/results/retention/housekeeping.ts";
import { joinedRuns } from "../src/run/folder/joined-runs.ts";
import { type OpenRun, openRunFolder, openRuns } from "../src/run/folder/open-runs.ts";
import type { Role } from "../src/run/folder/queues.ts";
import { heldAgents } from "../src/work/agents/held-agents.ts";
import { policyWorker } from "../src/work/workers/policy-worker.ts";
import { toolWorker } from "../src/work/workers/tool-worker.ts";
import { trainerWorker } from "../src/work/workers/trainer-worker.ts";
import { callTool } from "./call-tool.ts";
import { drawTasks } from "./draw-tasks.ts";
import { endShards } from "./end-shards.ts";
import { frameMessage } from "./frame-message.ts";
import { generateTurn } from "./generate-turn.ts";
import { initializePolicy } from "./initialize-policy.ts";
import { loadTask } from "./load-task.ts";
import { openRunActivity } from "./open-run.ts";
import { publishPolicy } from "./publish-policy.ts";
import { readEndedActivity } from "./read-ended.ts";
import { recordEvaluation } from "./record-evaluation.ts";
import { recordLeftOut } from "./record-left-out.ts";
import { recordStep } from "./record-step.ts";
import { releaseTools } from "./release-tools.ts";
import { reserveGroups } from "./reserve-groups.ts";
import { runAgent, startAgent } from "./run-agent.ts";
import { runTrajectories } from "./run-trajectories.ts";
import { scoreGroup } from "./score-group.ts";
import { scoreTrajectory } from "./score-trajectory.ts";
import { trainExamples } from "./train-examples.ts";
import { trainStep } from "./train-step.ts";
import { warmStart } from "./warm-start.ts";

type OpenRuns = (run: string) => Promise<OpenRun>;

/**
 * Returns the activities of a worker's roles for `run`, or for the runs of a pool. The activity of a tool's function
 * has the function's name. The roles of one worker share the tasks.
 */
export function activitiesOf({
  runs,
  run,
  queue,
  stopping,
  ends,
}: RoleOptions): (role: Role) => Promise<RoleActivities> {
  const tasks = runTasks();
  const openRun = run === undefined ? joinedRuns(runs) : openRuns(runs);
  return async (role) => {
    switch (role) {
      case "orchestration":
        return orchestration({ runs, stopping, ends }, openRun, tasks);
      case "policy":
        return policy(openRun, tasks);
      case "tools":
        if (run === undefined) throw new Error("a pool has no workers of tools");
        return tools({ runs, run, queue }, tasks);
      case "trainer":
        return trainer(openRun);
    }
  };
}

function orchestration(
  { runs, stopping, ends }: Pick<RoleOptions, "runs" | "stopping" | "ends">,
  openRun: OpenRuns,
  tasks: RunTasks,
): RoleActivities {
  const newest = openRuns(runs, 0); // a workflow that learns of a changed plan gets that plan
  const keeping = housekeeping();
  const activities = {
    "open-run": durable(openRunActivity(newest, tasks)),
    "end-shards": durable(endShards),
    "read-ended": durable(readEndedActivity(openRun)),
    "draw-tasks": durable(drawTasks(openRun, tasks)),
    "reserve-groups": durable(reserveGroups(openRun, tasks)),
    "run-trajectories": durable(runTrajectories(openRun, { stopping, ends })),
    "load-task": durable(loadTask(openRun, tasks)),
    "record-left-out": durable(recordLeftOut(openRun, tasks)),
    "record-step": durable(recordStep(openRun, keeping)),
    "record-evaluation": durable(recordEvaluation(openRun)),
  };
  return { activities, concurrency: 50, close: keeping.done };
}

function policy(openRun: OpenRuns, tasks: RunTasks): RoleActivities {
  const worker = policyWorker(openRun);
  const activities = {
    "initialize-policy": durable(initializePolicy(worker)),
    "generate-turn": durable(generateTurn(worker, tasks)),
    "frame-message": durable(frameMessage(worker)),
    "publish-policy": durable(publishPolicy(worker)),
  };
  return { activities, concurrency: 256, close: worker.close };
}

async function tools(
  { runs, run, queue }: Pick<RoleOptions, "runs" | "queue"> & { run: string },
  tasks: RunTasks,
): Promise<RoleActivities> {
  const worker = toolWorker(runs, run, queue);
  await worker.start();
  const { plan } = await openRunFolder(runs, run);
  const calls = (of: typeof plan.tools) =>
    Object.fromEntries(
      of.flatMap((tool) =>
        toolFunctions(tool).map(({ name }) => [name, durable(callTool(worker, toolName(tool), name))]),
      ),
    );
  const agents = heldAgents(startAgent(worker, tasks));
  const release = { "release-tools": durable(releaseTools(worker)) };
  const stateful = plan.tools.filter(({ manifest }) => manifest.tool?.stateful === true);
  const own =
    stateful.length === 0
      ? {}
      : { own: { queue: await worker.ownQueue(), activities: { ...calls(stateful), ...release } } };
  return {
    activities: {
      ...calls(plan.tools),
      "score-trajectory": durable(scoreTrajectory(worker, tasks)),
      "run-agent": durable(runAgent(agents)),
      "continue-agent": durable(agents.continue),
      "end-agent": durable(({ trajectory }: { trajectory: string }) => agents.end(trajectory)),
      "score-group": durable(scoreGroup(worker, tasks)),
      ...release,
    },
    ...own,
    concurrency: 1000, // a call that waits for its turn counts too
    close: async () => {
      await agents.close();
      await worker.close();
    },
  };
}

function trainer(openRun: OpenRuns): RoleActivities {
  const worker = trainerWorker(openRun);
  const activities = {
    "warm-start": durable(warmStart(worker)),
    "train-step": durable(trainStep(worker)),
    "join-step": durable(trainStep(worker)),
    "train-examples": durable(trainExamples(worker)),
  };
  return { activities, concurrency: 1, close: worker.close };
}
