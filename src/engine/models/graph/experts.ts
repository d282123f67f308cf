import { product } from "../../onnx/dimensions.ts";
import { div, equal, mul, wholeQuotient } from "../../onnx/elementwise.ts";
import type { FloatValue } from "../../onnx/graph.ts";
import { gatherElements, largest } from "../../onnx/indexing.ts";
import { reduceSum, softmax } from "../../onnx/reductions.ts";
import { addRows, rowsWhere, takeRows } from "../../onnx/row-subsets.ts";
import { reshape, zerosLike } from "../../onnx/shaping.ts";
import type { Experts } from "../config/model-config.ts";
import { type DecoderModel, projection } from "./decoder-blocks.ts";

/**
 * Applies a mixture of experts (arXiv 1701.06538) to rows [rows, hidden]. Each row passes through the experts that the
 * router considers likeliest, weighted by their probabilities. An expert computes only the rows that chose it. `block`
 * applies its gated unit by its module's name.
 */
export function mixtureOfExperts(
  model: DecoderModel,
  layer: number,
  x: FloatValue,
  { num_experts, num_experts_per_tok: chosenOf, norm_topk_prob }: Experts,
  block: (module: string, rows: FloatValue) => FloatValue,
): FloatValue {
  const { graph } = x;
  const parent = `model.layers.${layer}.mlp`;
  const probabilities = softmax(projection(model, x, `${parent}.gate`));
  const chosen = model.choose?.(layer, probabilities, chosenOf) ?? largest(probabilities, chosenOf);
  const picked = gatherElements(probabilities, chosen);
  const shares = norm_topk_prob ? div(picked, reduceSum(picked, [-1], true)) : picked;
  const choices = product([x.shape[0]!, chosenOf]);
  const experts = reshape(chosen, [choices]);
  const weights = reshape(shares, [choices, 1]);
  let total = zerosLike(x);
  for (let expert = 0; expert < num_experts; expert++) {
    const count = graph.share(`expert.${layer}.${expert}`, choices, 1 / num_experts);
    const places = rowsWhere(equal(experts, graph.ints([expert], [])), count);
    const rows = wholeQuotient(places, chosenOf);
    const output = block(`${parent}.experts.${expert}`, takeRows(x, rows));
    total = addRows(total, rows, mul(output, takeRows(weights, places)));
  }
  return total;
}
