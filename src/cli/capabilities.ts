import type { Plan } from "../contracts/plan.ts";

const capabilities = ["network", "files", "processes"] as const;

/** What a plan's plugins declare that they may do beyond computing, by capability, on one line. */
export function capabilityLine(plan: Plan): string {
  const { policy, dataset, tools, loop, reward, trainer } = plan;
  const loss = trainer.loss === undefined ? [] : [trainer.loss];
  const uses = [policy, dataset.train, dataset.validation, ...tools, loop, reward, trainer, ...loss];
  const parts = capabilities.map((capability) => {
    const names = uses.filter(({ manifest }) => manifest.capabilities?.[capability]).map(({ name }) => name);
    return `${capability}: ${[...new Set(names)].join(", ") || "none"}`;
  });
  return `plugins may use ${parts.join("; ")}`;
}
