import type { JsonObject } from "../../contracts/json.ts";
import type { PluginSource } from "../../contracts/plan.ts";
import type { ToolPlugin } from "../../contracts/tool.ts";

/** A plain function as a tool; `positions` says which argument is where. */
export function functionTool(
  called: (...values: never[]) => unknown,
  positions: NonNullable<PluginSource["positions"]>,
): ToolPlugin {
  return { execute: async (given) => Reflect.apply(called, undefined, valuesOf(given, positions)) };
}

function valuesOf(given: JsonObject, positions: NonNullable<PluginSource["positions"]>): unknown[] {
  if (positions === "object") return [given];
  return positions.flatMap((name): unknown[] => {
    if (!name.startsWith("...")) return [given[name]];
    const rest = given[name.slice(3)];
    return Array.isArray(rest) ? rest : [];
  });
}
