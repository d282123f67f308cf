import type { Plan } from "../contracts/plan.ts";
import type { UpdateForecast, UpdateSize } from "../contracts/trainer.ts";
import { loadPolicy, loadTrainer } from "../plugins/registry.ts";
import type { Preflight } from "./preflight.ts";

/**
 * What updates of a run would hold, by the tokens of what they train on: for each of `lengths` that there is room for, and for the room itself, up to the last of them.
 * Nothing where policy or trainer can't say. Throws what the model's formats throw.
 */
export async function forecastUpdates(
  { steps, policy, trainer, rollout, sft, dpo }: Plan,
  { counted }: Pick<Preflight, "counted">,
  lengths: readonly number[],
): Promise<UpdateForecast[]> {
  if (steps === 0 || counted === undefined) return [];
  const { forecast } = await loadTrainer(trainer);
  const outline = await (await loadPolicy(policy)).outline?.(structuredClone(policy.config));
  if (forecast === undefined || outline === undefined) return [];
  const of = dpo ? "pairs" : sft ? "demonstrations" : "trajectories";
  const { batchSize: count } = dpo ?? sft ?? rollout;
  const most = Math.min(counted.room, Math.max(...lengths));
  const sizes = [...lengths.filter((tokens) => tokens < most), most];
  const updates = sizes.map((tokens): UpdateSize => ({ of, count, tokens }));
  return forecast(structuredClone(trainer.config), outline, updates) ?? [];
}
