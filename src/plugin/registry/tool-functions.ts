import type { ToolManifest } from "../../contracts/generated/plugin.ts";
import type { OfferedFunction, ResolvedPlugin } from "../../contracts/plan.ts";

type OfferingPlugin = Pick<ResolvedPlugin, "name" | "manifest" | "tool" | "functions">;

/** What a tool is called in its run: its instances, limits and host go by it. */
export function toolName({ name, manifest, tool }: OfferingPlugin): string {
  return tool ?? manifest.tool?.name ?? name;
}

/** What the policy may call of a tool: as the plan says, else as the manifest does. None of a plugin of another kind. */
export function toolFunctions({ manifest, functions }: OfferingPlugin): readonly OfferedFunction[] {
  return functions ?? (manifest.tool === undefined ? [] : manifestFunctions(manifest.tool));
}

/** The functions that a manifest says; none of a tool that tells them itself. */
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
