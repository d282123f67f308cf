import type { ReferenceScores } from "../contracts/ledger.ts";
import type { Trainer, TrainingPair } from "../contracts/trainer.ts";
import type { OpenRun } from "../runs/open-runs.ts";
import { referenceScoresKey } from "../store/keys.ts";
import type { FramedExamples } from "./framed-examples.ts";
import { trainerLacks } from "./trainer-lacks.ts";

/** Pairs that the reference scores at once; a record each: a trainer that dies loses no more. */
const slice = 64;

/**
 * The pairs of a run at `rows`, with what the reference says of them. That is computed once, for the slices of the file that they
 * are in, and recorded; `onProgress` is told when it is. Throws TRAINER_LACKS.
 */
export async function pairsAt(
  trainer: Trainer,
  run: Pick<OpenRun, "plan" | "store">,
  examples: FramedExamples,
  ...[rows, onProgress]: [rows: readonly number[], onProgress: (said: string) => void]
): Promise<TrainingPair[]> {
  const scores = new Map<number, ReferenceScores>();
  for (const number of new Set(rows.map((row) => Math.floor(row / slice)))) {
    scores.set(number, await referenceScores(trainer, run, examples, number, onProgress));
  }
  const chosen = await examples.learned.at(rows);
  const rejected = await examples.rejected.at(rows);
  return rows.map((row, index) => {
    const of = scores.get(Math.floor(row / slice));
    const [one, other] = [chosen[index], rejected[index]];
    if (one === undefined || other === undefined) throw new RangeError(`there is no pair ${row}`);
    const reference = { chosen: of?.chosen[row % slice] ?? 0, rejected: of?.rejected[row % slice] ?? 0 };
    return { chosen: one, rejected: other, reference };
  });
}

async function referenceScores(
  trainer: Trainer,
  { plan, store }: Pick<OpenRun, "plan" | "store">,
  { learned, rejected }: FramedExamples,
  ...[number, onProgress]: [number: number, onProgress: (said: string) => void]
): Promise<ReferenceScores> {
  const key = referenceScoresKey(number);
  const recorded = await store.read(key);
  if (recorded !== undefined) return recorded;
  if (trainer.score === undefined) throw trainerLacks(plan, "score");
  const first = number * slice;
  const length = Math.min(slice, learned.length - first);
  onProgress(`the reference scores pairs ${first + 1} to ${first + length} of ${learned.length}`);
  const rows = Array.from({ length }, (_, index) => first + index);
  const scored = {
    chosen: await trainer.score(await learned.at(rows), "reference"),
    rejected: await trainer.score(await rejected.at(rows), "reference"),
  };
  return store.record(key, scored);
}
