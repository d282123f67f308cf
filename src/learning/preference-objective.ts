import { mul, positive, softplus, sub, toFloat } from "../onnx/elementwise.ts";
import type { FloatValue } from "../onnx/graph.ts";
import { gemm } from "../onnx/linear-algebra.ts";
import { reduceSum } from "../onnx/reductions.ts";
import { reshape } from "../onnx/shaping.ts";
import type { Objective } from "./objective.ts";

/**
 * Direct preference optimization (Rafailov et al. 2023, arXiv 2305.18290, equation 7): −log σ(β (Δ_chosen − Δ_rejected)),
 * where Δ = log π(y) − log π_ref(y) of all action tokens. A sample is a pair, chosen first. Token inputs: `signs` (1 for
 * the chosen, −1 for the rejected), `referenceLogProbabilities`, and `pairWeights`, which add up to 1 over a minibatch.
 * Terms: `accuracy`, the share of pairs whose chosen side is ahead, and `margin`, the mean of what σ is applied to.
 */
export function preferenceObjective(beta: number): Objective {
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
      const away = sub(logProbabilities, then("referenceLogProbabilities"));
      const margins = mul(perPair(mul(away, then("signs"))), beta);
      const weights = perPair(then("pairWeights"));
      const mean = (pairs: FloatValue) => reduceSum(mul(pairs, weights));
      return {
        loss: mean(softplus(mul(margins, -1))),
        terms: {
          accuracy: mean(toFloat(positive(margins))),
          margin: mean(margins),
        },
      };
    },
  };
}
