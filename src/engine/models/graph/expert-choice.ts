import { equal, intsWhere, less, mul, where } from "../../onnx/elementwise.ts";
import type { FloatValue, IntValue } from "../../onnx/graph.ts";
import { largest, ranked } from "../../onnx/indexing.ts";
import { columns } from "../../onnx/shaping.ts";
import { expertsOf, type ModelConfig } from "../config/model-config.ts";

/**
 * A choice is a near tie if the chosen expert is likelier than the next one by less than this share. Rounding makes a
 * far smaller difference.
 */
const narrow = 1e-3;

/** Returns the experts of rows, from their probabilities [rows, experts]: [rows, count]. */
export type ChooseExperts = (layer: number, probabilities: FloatValue, count: number) => IntValue;

/** Returns the layers, from the first, whose routers may have ties. If all experts are chosen, there are none. */
export function routedLayers(config: ModelConfig): number[] {
  const all = Array.from({ length: config.num_hidden_layers }, (_, layer) => layer);
  return all.filter((layer) => {
    const experts = expertsOf(config, layer);
    return experts !== undefined && experts.num_experts_per_tok < experts.num_experts;
  });
}

/** Returns the name of a decoding graph's output with a layer's ties. */
export function tiesName(layer: number): string {
  return `ties${layer}`;
}

/**
 * Chooses the likeliest experts, and outputs ties under `tiesName`: the expert of each row with a tie, otherwise −1,
 * [rows, 1].
 */
export function choiceTold(config: ModelConfig): ChooseExperts {
  const layers = routedLayers(config);
  return (layer, probabilities, count) => {
    if (!layers.includes(layer)) return largest(probabilities, count);
    const { graph } = probabilities;
    const { values, places } = ranked(probabilities, count + 1);
    const last = mul(columns(values, count - 1, count), 1 - narrow);
    const isNarrow = less(last, columns(values, count, count + 1));
    const expert = columns(places, count - 1, count);
    graph.output(tiesName(layer), intsWhere(isNarrow, expert, graph.ints([-1], [])));
    return columns(places, 0, count);
  };
}

/**
 * Chooses the likeliest experts, and in near ties those that the sampler chose. `told` [rows, routed layers] contains
 * the experts of ties, otherwise −1. `select` picks the rows that a layer works on.
 */
export function choiceAsTold(
  config: ModelConfig,
  told: IntValue,
  select: (layer: number, rows: IntValue) => IntValue,
): ChooseExperts {
  const layers = routedLayers(config);
  return (layer, probabilities, count) => {
    const at = layers.indexOf(layer);
    if (at < 0) return largest(probabilities, count);
    const experts = Number(probabilities.shape.at(-1));
    const numbers = Array.from({ length: experts }, (_, expert) => expert);
    const isTold = equal(columns(select(layer, told), at, at + 1), told.graph.ints(numbers, [1, experts]));
    return largest(mul(probabilities, where(isTold, 1 + 2 * narrow, 1)), count);
  };
}
