import type { Plan } from "../contracts/plan.ts";
import { availableMemory } from "../processes/available-memory.ts";
import { forecastSampling } from "./forecast-sampling.ts";
import { forecastUpdates } from "./forecast-updates.ts";
import type { Preflight } from "./preflight.ts";

/**
 * Says where sampling, or an update even on what is no longer than the longest prompt or example, can't be had with the memory that is free now, or that the trainer is given: it would end
 * with SAMPLING_MEMORY_SHORT, or, after the rollouts, with TRAINING_MEMORY_SHORT. Nothing where nobody can say.
 */
export async function memoryNotes(plan: Plan, preflight: Preflight): Promise<string[]> {
  return [...(await samplingNote(plan)), ...(await updateNote(plan, preflight))];
}

async function samplingNote(plan: Plan): Promise<string[]> {
  const forecast = await forecastSampling(plan);
  if (forecast === undefined) return [];
  const { weights, keyValues } = forecast;
  if (weights + keyValues.least <= availableMemory()) return [];
  return [
    `memory: sampling would hold ${megabytes(weights)} MB of weights and at least ${megabytes(keyValues.least)} of keys and values, more than there is now: ` +
      "it would fail with SAMPLING_MEMORY_SHORT",
  ];
}

async function updateNote(plan: Plan, preflight: Preflight): Promise<string[]> {
  const trained = preflight.counted?.rows.filter(({ name }) => isTrainedOn(plan, name)) ?? [];
  const longest = Math.max(0, ...trained.map((row) => row.longest));
  if (longest === 0) return [];
  const [forecast] = await forecastUpdates(plan, preflight, [longest + 1]);
  if (forecast === undefined || forecast.usual !== undefined) return [];
  const { of, count, tokens, least } = forecast;
  return [
    `memory: an update on ${count} ${of} of ${tokens.toLocaleString("en")} tokens, about as long as the longest prompt, would hold ${megabytes(least.bytes)} MB at least, more than there is for it now: ` +
      "it would fail with TRAINING_MEMORY_SHORT. everturn explain says what takes how much",
  ];
}

function megabytes(bytes: number): string {
  return Math.ceil(bytes / 1e6).toLocaleString("en");
}

/** Whether rows are what updates are made of, or begin with. */
function isTrainedOn({ sft, dpo }: Plan, name: string): boolean {
  if (dpo) return name === "dpo.preferences";
  return name === (sft ? "sft.demonstrations" : "dataset.train");
}
