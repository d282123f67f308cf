import type { PreferenceMetrics, PreferenceSettings } from "../../contracts/trainer.ts";
import { add, mul, positive, softplus, sub, toFloat } from "../onnx/elementwise.ts";
import type { FloatValue } from "../onnx/graph.ts";
import { gemm } from "../onnx/linear-algebra.ts";
import { reduceSum } from "../onnx/reductions.ts";
import { reshape } from "../onnx/shaping.ts";
import { type Objective, wanted } from "./objective.ts";

/**
 * Direct preference optimization. Δ = log π(y) − log π_ref(y) over all action tokens, and the margin is β (Δ_chosen −
 * Δ_rejected).
 * - `sigmoid`: −log σ(margin) (Rafailov et al. 2023, arXiv 2305.18290, equation 7). With label smoothing ε it is (1 −
 *   ε) of that plus ε of −log σ(−margin) (Mitchell 2023).
 * - `ipo`: (margin / β − 1 / 2β)², with means over tokens for Δ (Azar et al. 2023, arXiv 2310.12036, as in TRL).
 *
 * A sample is a pair, chosen first. Token inputs: `signs` (1 for the chosen, −1 for the rejected; for ipo divided by
 * the answer's number of tokens), `referenceLogProbabilities`, and `pairWeights`, which add up to 1 over a minibatch.
 * Terms: `accuracy`, the share of pairs with a positive margin, and `margin`, the mean. Default: sigmoid with β 0.1.
 */
export function preferenceObjective({
  beta = 0.1,
  loss = "sigmoid",
  labelSmoothing = 0,
}: Partial<PreferenceSettings> = {}): Objective {
  return {
    inputs: {
      membership: "membership",
      signs: "token",
      referenceLogProbabilities: "token",
      pairWeights: "token",
    },
    wants: { values: false, entropies: false },
    build({ logProbabilities }, then) {
      const membership = then("membership");
      const perPair = (tokens: FloatValue) =>
        gemm(membership, reshape(tokens, [membership.shape[1] ?? 1, 1]));
      const away = sub(wanted(logProbabilities, "logProbabilities"), then("referenceLogProbabilities"));
      const ahead = perPair(mul(away, then("signs")));
      const margins = mul(ahead, beta);
      const weights = perPair(then("pairWeights"));
      const mean = (pairs: FloatValue) => reduceSum(mul(pairs, weights));
      const right = softplus(mul(margins, -1));
      const short = sub(ahead, 1 / (2 * beta));
      const smoothed = () => add(mul(right, 1 - labelSmoothing), mul(softplus(margins), labelSmoothing));
      const sigmoid = () => (labelSmoothing === 0 ? right : smoothed());
      return {
        loss: mean(loss === "ipo" ? mul(short, short) : sigmoid()),
        terms: {
          accuracy: mean(toFloat(positive(margins))),
          margin: mean(margins),
        },
      };
    },
  };
}

/** An answer of `tokens` tokens, with the sums of their log-probabilities in nats. */
export interface ScoredAnswer {
  policy: number;
  reference: number;
  tokens: number;
}

/**
 * Computes the loss and terms of one pair from the sums of its answers' log-probabilities and their numbers of tokens.
 */
export function preferenceOf(
  { beta, loss, labelSmoothing }: PreferenceSettings,
  chosen: ScoredAnswer,
  rejected: ScoredAnswer,
): Pick<PreferenceMetrics, "loss" | "accuracy" | "margin"> {
  const away = ({ policy, reference, tokens }: ScoredAnswer) =>
    (policy - reference) / (loss === "ipo" ? tokens : 1);
  const ahead = away(chosen) - away(rejected);
  const margin = beta * ahead;
  const sigmoid = (1 - labelSmoothing) * softplusOf(-margin) + labelSmoothing * softplusOf(margin);
  return {
    loss: loss === "ipo" ? (ahead - 1 / (2 * beta)) ** 2 : sigmoid,
    accuracy: margin > 0 ? 1 : 0,
    margin,
  };
}

function softplusOf(value: number): number {
  return Math.max(value, 0) + Math.log1p(Math.exp(-Math.abs(value)));
}
