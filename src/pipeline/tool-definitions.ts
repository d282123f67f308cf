import type { ToolDefinition } from "../contracts/message.ts";
import type { Plan } from "../contracts/plan.ts";

/** A plan's tools as chat templates and agent loops know them. */
export function toolDefinitions(plan: Plan): ToolDefinition[] {
  return plan.tools.flatMap(({ manifest }) => {
    if (manifest.tool === undefined) return [];
    const { name, description, parameters } = manifest.tool;
    return [{ name, description, parameters }];
  });
}
