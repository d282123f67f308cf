import type { Plan, ResolvedPlugin } from "../contracts/plan.ts";

const capabilities = ["network", "files", "processes"] as const;

/** The plugins that a plan uses, each once, in the order of the pipeline. */
export function usedPlugins(plan: Plan): ResolvedPlugin[] {
  const { policy, dataset, tools, loop, reward, trainer } = plan;
  const loss = trainer.loss === undefined ? [] : [trainer.loss];
  const uses = [policy, dataset.train, dataset.validation, ...tools, loop, reward, trainer, ...loss];
  return [...new Map(uses.map((use) => [use.name, use])).values()];
}

/** What a plan's plugins declare that they may do beyond computing, by capability, on one line. */
export function capabilityLine(plan: Plan): string {
  const uses = usedPlugins(plan);
  const parts = capabilities.map((capability) => {
    const names = uses.filter(({ manifest }) => manifest.capabilities?.[capability]).map(({ name }) => name);
    return `${capability}: ${names.join(", ") || "none"}`;
  });
  return `plugins may use ${parts.join("; ")}`;
}
