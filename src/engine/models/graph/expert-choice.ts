import { equal, intsWhere, less, mul, where } from "../../onnx/elementwise.ts";
import type { FloatValue, IntValue } from "../../onnx/graph.ts";
import { largest, ranked } from "../../onnx/indexing.ts";
import { columns } from "../../onnx/shaping.ts";
import { expertsOf, type ModelConfig } from "../config/model-config.ts";

/** An expert is chosen narrowly if it is likelier than the next one by less than this share. What rounding does is far less. */
const narrow = 1e-3;

/** The experts of rows, by their probabilities [rows, experts]: [rows, count]. */
export type ChooseExperts = (layer: number, probabilities: FloatValue, count: number) => IntValue;

/** The layers whose routers may have ties, from the first: where all experts are chosen, there is nothing to choose. */
export function routedLayers(config: ModelConfig): number[] {
  const all = Array.from({ length: config.num_hidden_layers }, (_, layer) => layer);
  return all.filter((layer) => {
    const experts = expertsOf(config, layer);
    return experts !== undefined && experts.num_experts_per_tok < experts.num_experts;
  });
}

/** The output of a decoding graph that has a layer's ties. */
export function tiesName(layer: number): string {
  return `ties${layer}`;
}

/** Chooses the likeliest, and has the graph tell ties by `tiesName`: the expert of each row that has one, else −1, [rows, 1]. */
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
 * Chooses the likeliest, and where it is close, as a sampler chose: `told` [rows, routed layers] has the experts of its
 * ties, else −1. `select` gives the rows that a layer works on.
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
