import type { Plan } from "../../../contracts/plan.ts";
import { loadTrainer } from "../../../plugin/registry/registry.ts";

/** Returns the trainer's own notes, if the plan trains anything. */
export async function trainerNotes({ steps, warmStart, trainer }: Plan): Promise<string[]> {
  if (steps === 0 && warmStart === undefined) return [];
  const plugin = await loadTrainer(trainer);
  return (await plugin.notes?.(structuredClone(trainer.config))) ?? [];
}
