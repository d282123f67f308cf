import type { PluginManifest } from "../contracts/generated/plugin.ts";
import type { ToolDefinition } from "../contracts/message.ts";
import type { Plan } from "../contracts/plan.ts";

type Described = Pick<NonNullable<PluginManifest["tool"]>, "name" | "description" | "parameters">;

/** A plan's tools as chat templates and agent loops know them. */
export function toolDefinitions(plan: Plan): ToolDefinition[] {
  return plan.tools.flatMap(({ manifest }) =>
    manifest.tool === undefined ? [] : [toolDefinition(manifest.tool)],
  );
}

/** A manifest's tool as chat templates know it: they go through its properties, also where it takes no arguments. */
export function toolDefinition({ name, description, parameters }: Described): ToolDefinition {
  return { name, description, parameters: { ...parameters, properties: parameters.properties ?? {} } };
}
