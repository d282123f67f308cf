import { defined } from "../../../base/records/defined.ts";
import type { Plan } from "../../../contracts/plan.ts";
import type { SamplingForecast } from "../../../contracts/policy.ts";
import type { UpdateForecast, UpdateSize } from "../../../contracts/trainer.ts";
import { loadPolicy, loadTrainer } from "../../../plugin/registry/registry.ts";
import type { Preflight } from "../check/preflight.ts";

/** The memory that a run would need, as far as its policy and trainer can forecast it. */
export interface MemoryForecast {
  /** Sampling from one version. */
  sampling?: SamplingForecast;
  updates: UpdateForecast[];
}

/**
 * Forecasts the memory for sampling and for updates on rows of each of `lengths` (tokens), up to the longest
 * of them or to the room of a trajectory. Throws the errors of the model's formats.
 */
export async function forecastMemory(
  plan: Plan,
  preflight: Pick<Preflight, "counted">,
  lengths: readonly number[],
): Promise<MemoryForecast> {
  const { policy, trainer } = plan;
  const sampler = await loadPolicy(policy);
  const sizes = updateSizes(plan, preflight, lengths);
  const learner = sizes.length > 0 ? await loadTrainer(trainer) : undefined;
  const isAsked = sampler.forecast !== undefined || learner?.forecast !== undefined;
  const outline = isAsked ? await sampler.outline?.(structuredClone(policy.config)) : undefined;
  if (outline === undefined) return { updates: [] };
  const sampling = sampler.forecast?.(structuredClone(policy.config), outline);
  const updates = learner?.forecast?.(structuredClone(trainer.config), outline, sizes) ?? [];
  return defined({ sampling, updates });
}

function updateSizes(
  { steps, rollout, sft, dpo }: Plan,
  { counted }: Pick<Preflight, "counted">,
  lengths: readonly number[],
): UpdateSize[] {
  if (steps === 0 || counted === undefined || lengths.length === 0) return [];
  const of = dpo ? "pairs" : sft ? "demonstrations" : "trajectories";
  const { batchSize: count } = dpo ?? sft ?? rollout;
  const most = Math.min(counted.room, Math.max(...lengths));
  return [...lengths.filter((tokens) => tokens < most), most].map((tokens) => ({ of, count, tokens }));
}
