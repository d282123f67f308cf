import { availableMemory } from "../../../base/processes/available-memory.ts";
import type { Plan } from "../../../contracts/plan.ts";
import type { SamplingForecast } from "../../../contracts/policy.ts";
import type { UpdateForecast } from "../../../contracts/trainer.ts";
import type { Preflight } from "../check/preflight.ts";
import { forecastMemory } from "./forecast-memory.ts";

/**
 * Notes whether sampling, or an update on rows as long as the longest prompt or example, would need more
 * memory than is now free or than the trainer may use. Sampling would then fail with SAMPLING_MEMORY_SHORT,
 * and the update, after the rollouts, with TRAINING_MEMORY_SHORT. Returns no notes if no forecast is
 * available.
 */
export async function memoryNotes(plan: Plan, preflight: Preflight): Promise<string[]> {
  const trained = preflight.counted?.rows.filter(({ name }) => isTrainedOn(plan, name)) ?? [];
  const longest = Math.max(0, ...trained.map((row) => row.longest));
  const { sampling, updates } = await forecastMemory(plan, preflight, longest === 0 ? [] : [longest + 1]);
  return [...(sampling ? samplingNote(sampling) : []), ...updates.flatMap(updateNote)];
}

function samplingNote({ weights, images = 0, keyValues }: SamplingForecast): string[] {
  if (weights + images + keyValues.least <= availableMemory()) return [];
  const seen = images === 0 ? "" : `, ${megabytes(images)} for images,`;
  return [
    `memory: sampling would hold ${megabytes(weights)} MB of weights${seen} and at least ${megabytes(keyValues.least)} of keys and values, more than there is now: ` +
      "it would fail with SAMPLING_MEMORY_SHORT",
  ];
}

function updateNote({ of, count, tokens, usual, least }: UpdateForecast): string[] {
  if (usual !== undefined) return [];
  return [
    `memory: an update on ${count} ${of} of ${tokens.toLocaleString("en")} tokens, about as long as the longest prompt, would hold ${megabytes(least.bytes)} MB at least, more than there is for it now: ` +
      "it would fail with TRAINING_MEMORY_SHORT. everturn explain shows what needs the memory",
  ];
}

function megabytes(bytes: number): string {
  return Math.ceil(bytes / 1e6).toLocaleString("en");
}

/** Whether updates consist of these rows, or begin with them. */
function isTrainedOn({ sft, dpo }: Plan, name: string): boolean {
  if (dpo) return name === "dpo.preferences";
  return name === (sft ? "sft.demonstrations" : "dataset.train");
}
