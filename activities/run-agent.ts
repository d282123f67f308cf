import { Context } from "@temporalio/activity";
import { loopOfTask } from "../src/contracts/plan-loops.ts";
import type { RunAgentInput, RunAgentResult } from "../src/contracts/session.ts";
import type { Report } from "../src/control/temporal/durable.ts";
import { type RunTasks, taskAt } from "../src/plan/tasks/run-tasks.ts";
import { loadPolicy } from "../src/plugin/registry/registry.ts";
import { askTrajectory } from "../src/work/agents/ask-trajectory.ts";
import { openTrajectorySession } from "../src/work/agents/trajectory-session.ts";
import type { ToolWorker } from "../src/work/workers/tool-worker.ts";

/**
 * Runs a trajectory's agent to its end. Its requests are updates of the trajectory's workflow. Requests that
 * an earlier process of the agent made are answered from the record. Throws AGENT_FAILED, which Temporal
 * retries, AGENT_GAVE_UP when the attempts are spent, and TASK_NOT_FOUND.
 */
export function runAgent(worker: ToolWorker, tasks: RunTasks) {
  return async (
    { place, source }: RunAgentInput,
    signal: AbortSignal,
    report: Report,
  ): Promise<RunAgentResult> => {
    const run = await worker.openRun(place.run);
    const { plan } = run;
    const task = await taskAt(run, tasks, source, place.task);
    const loop = loopOfTask(plan, task) ?? plan.loop;
    const ask = askTrajectory(Context.current().client, place.id, signal);
    const traits = (await loadPolicy(plan.policy)).traits?.(structuredClone(plan.policy.config));
    const keep = traits?.readsImages === true ? run.store.bytes : undefined;
    const journal = await worker.journal(place.run);
    const session = await openTrajectorySession(place, plan, journal, ask, keep);
    const trajectories = plan.rollout.concurrency;
    const answer = await worker.agents.run({ loop, trajectories, place, task, session, signal, report });
    return answer === "" ? {} : { answer };
  };
}
