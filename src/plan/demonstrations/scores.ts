import type { Plan } from "../../contracts/plan.ts";
import type { MaskedTokens } from "../../contracts/policy.ts";
import type { Trainer } from "../../contracts/trainer.ts";
import { trainerLacks } from "./trainer-lacks.ts";

/** Who scores: a run's trainer, by the policy as it is now or by the reference. */
export interface Scorer {
  trainer: Trainer;
  plan: Plan;
  by: "policy" | "reference";
}

/** The sums of the log-probabilities of sequences' marked tokens, nats. Throws TRAINER_LACKS. */
export async function scoresOf({ trainer, plan, by }: Scorer, sequences: MaskedTokens[]): Promise<number[]> {
  if (trainer.score === undefined) throw trainerLacks(plan, "score");
  return trainer.score(sequences, by);
}

/** The same of both answers of each pair, at once: they begin with the same prompt, which is then computed once. */
export async function answerScores(
  scorer: Scorer,
  chosen: readonly MaskedTokens[],
  rejected: readonly MaskedTokens[],
): Promise<{ chosen: number[]; rejected: number[] }> {
  const scores = await scoresOf(scorer, [...chosen, ...rejected]);
  return { chosen: scores.slice(0, chosen.length), rejected: scores.slice(chosen.length) };
}
