import type { Plan, ResolvedPlugin } from "../../../contracts/plan.ts";
import { planPlugins } from "../../../plugin/registry/plan-plugins.ts";

const capabilities = ["network", "files", "processes"] as const;

/** The plugins that a plan uses, each once, in the order of the pipeline. */
export function usedPlugins(plan: Plan): ResolvedPlugin[] {
  return [...new Map(planPlugins(plan).map((use) => [use.name, use])).values()];
}

/** A line with the capabilities beyond computing that a plan's plugins declare, by capability. */
export function capabilityLine(plan: Plan): string {
  const uses = usedPlugins(plan);
  const parts = capabilities.map((capability) => {
    const names = uses.filter(({ manifest }) => manifest.capabilities?.[capability]).map(({ name }) => name);
    return `${capability}: ${names.join(", ") || "none"}`;
  });
  return `the plugins declare that they use ${parts.join("; ")}`;
}
