import type { ResolvedLoop } from "./plan.ts";

/** The agent loops in a plan. */
export interface PlanLoops {
  loop: ResolvedLoop;
  loops?: Record<string, ResolvedLoop> | undefined;
}

/** Returns the agent loops of a plan, first the loop of tasks without an `agent_name`. */
export function planLoops({ loop, loops = {} }: PlanLoops): ResolvedLoop[] {
  return [loop, ...Object.values(loops)];
}

/** Whether a loop answers the requests of an agent, which may bring tools of its own. */
export function isAgentLoop({ name }: Pick<ResolvedLoop, "name">): boolean {
  return name === "loop-agent";
}

/** Returns their distinct names as a message lists them. */
export function loopNames(plan: PlanLoops): string {
  return [...new Set(planLoops(plan).map(({ name }) => name))].join(" or ");
}

/** Returns the loop of a task; undefined if the plan does not define its `agent_name`. */
export function loopOfTask(
  { loop, loops = {} }: PlanLoops,
  { agent_name: name }: { agent_name?: string },
): ResolvedLoop | undefined {
  if (name === undefined) return loop;
  return Object.hasOwn(loops, name) ? loops[name] : undefined;
}
