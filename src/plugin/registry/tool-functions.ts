import type { ToolManifest } from "../../contracts/generated/plugin.ts";
import type { OfferedFunction, ResolvedPlugin } from "../../contracts/plan.ts";

type OfferingPlugin = Pick<ResolvedPlugin, "name" | "manifest" | "tool" | "functions">;

/** The name of a tool in its run. Its instances, limits and host use it. */
export function toolName({ name, manifest, tool }: OfferingPlugin): string {
  return tool ?? manifest.tool?.name ?? name;
}

/**
 * The functions of a tool that the policy may call: the plan's, or else the manifest's. Empty for other kinds
 * of plugins.
 */
export function toolFunctions({ manifest, functions }: OfferingPlugin): readonly OfferedFunction[] {
  return functions ?? (manifest.tool === undefined ? [] : manifestFunctions(manifest.tool));
}

/** The functions in a manifest. Empty for a tool that lists them itself. */
export function manifestFunctions({
  name,
  description = "",
  parameters,
  functions,
}: ToolManifest): OfferedFunction[] {
  if (functions !== undefined)
    return Object.entries(functions).map(([own, said]) => ({ name: own, ...said }));
  return parameters === undefined ? [] : [{ name, description, parameters }];
}
