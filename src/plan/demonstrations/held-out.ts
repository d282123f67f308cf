import type { ExampleMetrics } from "../../contracts/ledger.ts";
import type { MaskedTokens } from "../../contracts/policy.ts";
import type { Trainer } from "../../contracts/trainer.ts";
import { preferenceOf } from "../../engine/learning/preference-objective.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import type { FramedExamples } from "./framed-examples.ts";
import { pairsAt } from "./pairs.ts";
import { answerScores, scoresOf } from "./scores.ts";

type HeldOutMetrics = Pick<ExampleMetrics, "heldOutLoss" | "heldOutAccuracy" | "heldOutMargin">;

/**
 * Measures the current policy on a run's held-out examples. Returns nothing if none are held out. Throws
 * TRAINER_LACKS.
 */
export async function heldOutOf(
  trainer: Trainer,
  run: Pick<OpenRun, "plan" | "store">,
  examples: FramedExamples,
  onProgress: (said: string) => void,
): Promise<HeldOutMetrics> {
  const { heldOut: rows } = examples.rows;
  const { dpo } = run.plan;
  if (rows.length === 0) return {};
  onProgress("what is held out is scored");
  const scorer = { trainer, plan: run.plan, by: "policy" } as const;
  if (dpo === undefined) {
    const sequences = await examples.learned.at(rows);
    return { heldOutLoss: -sum(await scoresOf(scorer, sequences)) / sum(sequences.map(actions)) };
  }
  const pairs = await pairsAt(trainer, run, examples, rows, onProgress);
  const sides = [pairs.map((pair) => pair.chosen), pairs.map((pair) => pair.rejected)] as const;
  const { chosen, rejected } = await answerScores(scorer, ...sides);
  const measured = pairs.map((pair, index) => {
    const answer = (side: "chosen" | "rejected", policy = 0) => ({
      policy,
      reference: pair.reference[side],
      tokens: actions(pair[side]),
    });
    return preferenceOf(dpo, answer("chosen", chosen[index]), answer("rejected", rejected[index]));
  });
  return {
    heldOutLoss: sum(measured.map(({ loss }) => loss)) / pairs.length,
    heldOutAccuracy: sum(measured.map(({ accuracy }) => accuracy)) / pairs.length,
    heldOutMargin: sum(measured.map(({ margin }) => margin)) / pairs.length,
  };
}

function actions({ mask }: MaskedTokens): number {
  return mask.filter((marked) => marked === 1).length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
