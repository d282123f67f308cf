import type { Plan } from "../contracts/plan.ts";
import { forecastUpdates } from "./forecast-updates.ts";
import type { Preflight } from "./preflight.ts";

/**
 * Says where an update can't be had with the memory that is free now, or that the trainer is given, even on what is no longer than the longest prompt or example: it would end
 * with TRAINING_MEMORY_SHORT, after the rollouts. Nothing where nobody can say.
 */
export async function memoryNotes(plan: Plan, preflight: Preflight): Promise<string[]> {
  const trained = preflight.counted?.rows.filter(({ name }) => isTrainedOn(plan, name)) ?? [];
  const longest = Math.max(0, ...trained.map((row) => row.longest));
  if (longest === 0) return [];
  const [forecast] = await forecastUpdates(plan, preflight, [longest + 1]);
  if (forecast === undefined || forecast.usual !== undefined) return [];
  const { of, count, tokens, least } = forecast;
  const megabytes = Math.ceil(least.bytes / 1e6).toLocaleString("en");
  return [
    `memory: an update on ${count} ${of} of ${tokens.toLocaleString("en")} tokens, about as long as the longest prompt, would hold ${megabytes} MB at least, more than there is for it now: ` +
      "it would fail with TRAINING_MEMORY_SHORT. everturn explain says what takes how much",
  ];
}

/** Whether rows are what updates are made of, or begin with. */
function isTrainedOn({ sft, dpo }: Plan, name: string): boolean {
  if (dpo) return name === "dpo.preferences";
  return name === (sft ? "sft.demonstrations" : "dataset.train");
}
