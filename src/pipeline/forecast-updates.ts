import type { Plan } from "../contracts/plan.ts";
import type { UpdateForecast, UpdateSize } from "../contracts/trainer.ts";
import { loadPolicy, loadTrainer } from "../plugins/registry.ts";
import type { Preflight } from "./preflight.ts";

/** Tokens of each trajectory that updates are looked at with, as far as there is room for so many; and the room itself, up to the last. */
const lengths = [512, 2048, 8192, 32_768] as const;

/**
 * What updates of a run would hold, by the length of what they train on, shortest first; nothing where policy or trainer can't say. Throws what
 * the model's formats throw.
 */
export async function forecastUpdates(
  { steps, policy, trainer, rollout, sft, dpo }: Plan,
  { counted }: Pick<Preflight, "counted">,
): Promise<UpdateForecast[]> {
  if (steps === 0 || counted === undefined) return [];
  const { forecast } = await loadTrainer(trainer);
  const outline = await (await loadPolicy(policy)).outline?.(structuredClone(policy.config));
  if (forecast === undefined || outline === undefined) return [];
  const of = dpo ? "pairs" : sft ? "demonstrations" : "trajectories";
  const { batchSize: count } = dpo ?? sft ?? rollout;
  const most = Math.min(counted.room, lengths.at(-1)!);
  const sizes = [...lengths.filter((tokens) => tokens < most), most];
  const updates = sizes.map((tokens): UpdateSize => ({ of, count, tokens }));
  return forecast(structuredClone(trainer.config), outline, updates) ?? [];
}
