import type { ToolDefinition } from "../contracts/message.ts";
import type { Plan } from "../contracts/plan.ts";
import { toolFunctions } from "../plugins/tool-functions.ts";

/** The functions of a plan's tools as chat templates and agent loops know them. */
export function toolDefinitions(plan: Plan): ToolDefinition[] {
  return plan.tools.flatMap((tool) => toolFunctions(tool).map(toolDefinition));
}

/** A function as chat templates know it: they go through its properties, also where it takes no arguments. */
export function toolDefinition({ name, description, parameters }: ToolDefinition): ToolDefinition {
  return { name, description, parameters: { ...parameters, properties: parameters.properties ?? {} } };
}
