import { defined } from "../../base/records/defined.ts";
import type { PluginManifest } from "../../contracts/generated/plugin.ts";

/**
 * Returns an environment's manifest as that of the part of a pipeline that it supplies: its data set, its tool or its
 * reward. Undefined if it supplies no such part, and for plugins of other kinds.
 */
export function environmentPart(
  { kind: own, tool, reward, loop: _, ...common }: PluginManifest,
  kind: PluginManifest["kind"] | undefined,
): PluginManifest | undefined {
  if (own !== "environment") return undefined;
  switch (kind) {
    case "dataset":
      return { ...common, kind };
    case "tool":
      return tool && { ...common, kind, tool };
    case "reward":
      return defined({ ...common, kind, reward });
    default:
      return undefined;
  }
}
