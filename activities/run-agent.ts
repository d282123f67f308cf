import { Context } from "@temporalio/activity";
import { loopOfTask } from "../src/contracts/plan-loops.ts";
import type { RunAgentInput, RunAgentResult } from "../src/contracts/session.ts";
import type { Report } from "../src/control/temporal/durable.ts";
import { type RunTasks, taskAt } from "../src/plan/tasks/run-tasks.ts";
import { loadPolicy } from "../src/plugin/registry/registry.ts";
import { askTrajectory } from "../src/work/agents/ask-trajectory.ts";
import type { StartAgent } from "../src/work/agents/held-agent.ts";
import type { HeldAgents } from "../src/work/agents/held-agents.ts";
import { openTrajectorySession } from "../src/work/agents/trajectory-session.ts";
import type { ToolWorker } from "../src/work/workers/tool-worker.ts";

/**
 * Starts a trajectory's agent. Requests that an earlier process of the agent made are answered from the record. Its end
 * throws AGENT_FAILED, which Temporal retries, and AGENT_GAVE_UP when the attempts are spent. Throws TASK_NOT_FOUND.
 */
export function startAgent(worker: ToolWorker, tasks: RunTasks): StartAgent {
  return async ({ place, source }, { ask, signal, report }) => {
    const run = await worker.openRun(place.run);
    const { plan } = run;
    const task = await taskAt(run, tasks, source, place.task);
    const loop = loopOfTask(plan, task) ?? plan.loop;
    const traits = (await loadPolicy(plan.policy)).traits?.(structuredClone(plan.policy.config));
    const keep = traits?.readsImages === true ? run.store.bytes : undefined;
    const journal = await worker.journal(place.run);
    const session = await openTrajectorySession(place, plan, journal, ask, keep);
    const trajectories = plan.rollout.concurrency;
    const { host: named } = loop.config;
    const host = typeof named === "string" ? await worker.host(named) : undefined;
    const answering = worker.agents.run({ loop, trajectories, place, task, session, host, signal, report });
    return { session, over: answering.then((answer) => (answer === "" ? {} : { answer })) };
  };
}

/** Runs a trajectory's agent to its end. Its requests are updates of the trajectory's workflow. */
export function runAgent(agents: HeldAgents) {
  return (input: RunAgentInput, signal: AbortSignal, report: Report): Promise<RunAgentResult> => {
    const ask = askTrajectory(Context.current().client, input.place.id, signal);
    return agents.run(input, { ask, signal, report });
  };
}
