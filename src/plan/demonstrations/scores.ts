import type { Plan } from "../../contracts/plan.ts";
import type { MaskedTokens } from "../../contracts/policy.ts";
import type { Trainer } from "../../contracts/trainer.ts";
import { trainerLacks } from "./trainer-lacks.ts";

/** What computes the scores: a run's trainer, with the current policy or with the reference. */
export interface Scorer {
  trainer: Trainer;
  plan: Plan;
  by: "policy" | "reference";
}

/** Returns the sums of the log-probabilities of sequences' marked tokens, in nats. Throws TRAINER_LACKS. */
export async function scoresOf({ trainer, plan, by }: Scorer, sequences: MaskedTokens[]): Promise<number[]> {
  if (trainer.score === undefined) throw trainerLacks(plan, "score");
  return trainer.score(sequences, by);
}

/** Scores both answers of each pair at once, so that their common prompt is computed once. */
export async function answerScores(
  scorer: Scorer,
  chosen: readonly MaskedTokens[],
  rejected: readonly MaskedTokens[],
): Promise<{ chosen: number[]; rejected: number[] }> {
  const scores = await scoresOf(scorer, [...chosen, ...rejected]);
  return { chosen: scores.slice(0, chosen.length), rejected: scores.slice(chosen.length) };
}
