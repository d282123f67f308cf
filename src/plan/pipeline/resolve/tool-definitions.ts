import type { Task } from "../../../contracts/generated/task.ts";
import type { ToolDefinition } from "../../../contracts/message.ts";
import type { Plan, ResolvedLoop } from "../../../contracts/plan.ts";
import { loopOfTask, planLoops } from "../../../contracts/plan-loops.ts";
import { toolFunctions } from "../../../plugin/registry/tool-functions.ts";

/** The functions that the policy may call in the tasks of a loop. Default: the plan's own loop. */
export function offeredTools(
  plan: Plan,
  { tools: named }: Pick<ResolvedLoop, "tools"> = plan.loop,
): ToolDefinition[] {
  return plan.tools.flatMap((tool) => {
    const functions = toolFunctions(tool).filter(
      ({ name, forLoops = tool.manifest.tool?.forLoops }) => named?.includes(name) ?? !forLoops,
    );
    return functions.map(toolDefinition);
  });
}

/** The functions that the policy may call in a task of the plan. */
export function toolsOfTasks(plan: Plan): (task: Task) => ToolDefinition[] {
  const own = offeredTools(plan);
  const offered = new Map(planLoops(plan).map((loop) => [loop, offeredTools(plan, loop)]));
  return (task) => offered.get(loopOfTask(plan, task) ?? plan.loop) ?? own;
}

/**
 * The functions of a plan's tools as chat templates and agent loops know them, including those for loops
 * only.
 */
export function toolDefinitions(plan: Plan): ToolDefinition[] {
  return plan.tools.flatMap((tool) => toolFunctions(tool).map(toolDefinition));
}

/**
 * A function in the form that chat templates need. They iterate over its properties even if it takes no
 * arguments.
 */
export function toolDefinition({ name, description, parameters }: ToolDefinition): ToolDefinition {
  return { name, description, parameters: { ...parameters, properties: parameters.properties ?? {} } };
}
