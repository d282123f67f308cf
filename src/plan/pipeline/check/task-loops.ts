import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { suggestion } from "../../../base/validation/nearest.ts";
import type { Problem } from "../../../base/validation/problem.ts";
import type { Task } from "../../../contracts/generated/task.ts";
import { loopOfTask, type PlanLoops } from "../../../contracts/plan-loops.ts";
import { placeOfRow } from "../read/row-problems.ts";
import { namedSets, type TaskSets } from "../read/task-sets.ts";

/**
 * Returns the loops that tasks name in `agent_name` and the plan does not have: each name once, at its first
 * task.
 */
export function taskLoopProblems(plan: PlanLoops, sets: TaskSets): Problem[] {
  return namedSets(sets).flatMap(([set, tasks]) => {
    const strange = tasks.filter((task) => loopOfTask(plan, task) === undefined);
    const agents = new Set(strange.map(({ agent_name: agent = "" }) => agent));
    return [...agents].map((agent): Problem => {
      const rows = strange.filter((task) => task.agent_name === agent);
      const place = placeOfRow(rows[0], set);
      const asking =
        rows.length === 1 ? `a task of ${set} asks for` : `${rows.length} tasks of ${set} ask for`;
      const hint = suggestion(agent, Object.keys(plan.loops ?? {}), "The loops are");
      const params = { at: place.text, agent, tasks: asking, hint: hint === "" ? "" : ` ${hint}` };
      return { place, error: new EverturnError("AGENT_UNKNOWN", params) };
    });
  });
}

/** Counts the tasks per loop, if a plan has several loops: `direct 12, search 20 and its own 8`. */
export function taskLoopNotes(
  plan: PlanLoops,
  { train = [], validation = [] }: Partial<Record<"train" | "validation", readonly Task[] | undefined>>,
): string[] {
  if (plan.loops === undefined) return [];
  const names = [undefined, ...Object.keys(plan.loops)];
  const told = (tasks: readonly Task[]) =>
    names
      .map((name) => `${name ?? plan.loop.name} ${tasks.filter((task) => task.agent_name === name).length}`)
      .join(", ");
  return [`loops of the training tasks: ${told(train)}; of the held-out ones: ${told(validation)}`];
}
