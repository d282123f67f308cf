import type { ReferenceScores } from "../../contracts/ledger.ts";
import type { Trainer, TrainingPair } from "../../contracts/trainer.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { referenceScoresKey } from "../../run/store/keys.ts";
import type { FramedExamples } from "./framed-examples.ts";
import { answerScores } from "./scores.ts";

/**
 * The number of pairs that the reference scores at once. Each slice is one record, so a trainer that dies
 * repeats at most one slice.
 */
const slice = 64;

/**
 * Returns the pairs of a run at `rows` with their reference scores. Computes the scores once, for a whole
 * slice of pairs that steps need together, and records them. Calls `onProgress` when it does. Throws
 * TRAINER_LACKS.
 */
export async function pairsAt(
  trainer: Trainer,
  run: Pick<OpenRun, "plan" | "store">,
  examples: FramedExamples,
  ...[rows, onProgress]: [rows: readonly number[], onProgress: (said: string) => void]
): Promise<TrainingPair[]> {
  const placed = rows.map((row) => {
    const place = examples.rows.places.get(row);
    if (place === undefined) throw new RangeError(`there is no pair ${row}`);
    return { slice: Math.floor(place / slice), at: place % slice };
  });
  const scores = new Map<number, ReferenceScores>();
  for (const number of new Set(placed.map((one) => one.slice))) {
    scores.set(number, await referenceScores(trainer, run, examples, number, onProgress));
  }
  const chosen = await examples.learned.at(rows);
  const rejected = await examples.rejected.at(rows);
  return placed.map((place, index) => {
    const of = scores.get(place.slice)!;
    const reference = { chosen: of.chosen[place.at]!, rejected: of.rejected[place.at]! };
    return { chosen: chosen[index]!, rejected: rejected[index]!, reference };
  });
}

async function referenceScores(
  trainer: Trainer,
  { plan, store }: Pick<OpenRun, "plan" | "store">,
  { learned, rejected, rows: { places } }: FramedExamples,
  ...[number, onProgress]: [number: number, onProgress: (said: string) => void]
): Promise<ReferenceScores> {
  const key = referenceScoresKey(number);
  const recorded = await store.read(key);
  if (recorded !== undefined) return recorded;
  const first = number * slice;
  const rows = [...places.keys()].slice(first, first + slice);
  onProgress(`the reference scores pairs ${first + 1} to ${first + rows.length} of ${places.size}`);
  const scorer = { trainer, plan, by: "reference" } as const;
  return store.record(key, await answerScores(scorer, await learned.at(rows), await rejected.at(rows)));
}
