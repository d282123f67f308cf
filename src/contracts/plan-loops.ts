import type { ResolvedLoop } from "./plan.ts";

/** What a plan says of its agent loops. */
export interface PlanLoops {
  loop: ResolvedLoop;
  loops?: Record<string, ResolvedLoop> | undefined;
}

/** The agent loops of a plan, that of tasks without an `agent_name` first. */
export function planLoops({ loop, loops = {} }: PlanLoops): ResolvedLoop[] {
  return [loop, ...Object.values(loops)];
}

/** Their names, each once, as a message tells them. */
export function loopNames(plan: PlanLoops): string {
  return [...new Set(planLoops(plan).map(({ name }) => name))].join(" or ");
}

/** The loop of a task; undefined if its `agent_name` is none of the plan's. */
export function loopOfTask(
  { loop, loops = {} }: PlanLoops,
  { agent_name: name }: { agent_name?: string },
): ResolvedLoop | undefined {
  if (name === undefined) return loop;
  return Object.hasOwn(loops, name) ? loops[name] : undefined;
}
