import { defined } from "../../../base/records/defined.ts";
import type { FloatValue, Graph } from "../../onnx/graph.ts";
import { type Activations, quantizedProducts } from "../../onnx/quantized-products.ts";
import type { Target } from "../../onnx/target.ts";
import type { ModelConfig } from "../config/model-config.ts";
import {
  type DecoderAdapter,
  type DecoderModel,
  finalNorm,
  languageModelHead,
} from "../graph/decoder-blocks.ts";
import { decoderLayer } from "../graph/decoder-layer.ts";
import { rotaryTables } from "../graph/rotary-tables.ts";
import { weightConstant } from "../weights/stored-constant.ts";
import type { WeightSources } from "../weights/weight-sources.ts";

/** Shapes of a LoRA adapter's matrices by their names (`….lora_A.weight` [rank, in], `….lora_B.weight` [out, rank]). */
export interface AdapterShape {
  /** alpha / rank. */
  scale: number;
  shapes: ReadonlyMap<string, readonly number[]>;
}

/** The weights of a decoding graph. */
export type DecodedWeights = Pick<WeightSources, "tensors" | "quantized"> &
  Pick<DecoderModel, "products" | "widened">;

/** Returns a model's weights for decoding. On the CPU they depend on whether rows are rounded. */
export async function decodedWeights(
  { tensors, quantized }: WeightSources,
  activations: Activations = "float32",
  device: Target["device"] = "cpu",
): Promise<DecodedWeights> {
  if (!quantized) return { tensors };
  if (device !== "cpu") return { tensors, quantized, products: "floats" };
  return { tensors, quantized, products: await quantizedProducts(activations) };
}

/** Builds a decoding model with its weights as constants and an adapter's matrices as inputs of their names. */
export function decodingModel(
  graph: Graph,
  config: ModelConfig,
  { tensors, quantized, products, widened }: DecodedWeights,
  adapter?: AdapterShape,
  tables = rotaryTables(graph, config),
): DecoderModel {
  return defined({
    config,
    weights: new Map([...tensors].map(([name, tensor]) => [name, weightConstant(graph, tensor)])),
    frozen: quantized,
    products,
    widened,
    tables,
    inference: true,
    adapter: adapter && adapterInputs(graph, adapter),
  });
}

/**
 * Returns the logits of the rows that `select` picks, from embeddings of all rows [rows, hidden]. For the last layer's
 * other rows, computes only keys and values. `attend` computes the attention of a layer's normed rows.
 */
export function decodedLogits(
  model: DecoderModel,
  embedded: FloatValue,
  attend: (layer: number, normed: FloatValue) => FloatValue,
  select: (rows: FloatValue) => FloatValue,
): FloatValue {
  const last = model.config.num_hidden_layers - 1;
  let hidden = embedded;
  for (let layer = 0; layer <= last; layer++) {
    const ofLayer = (normed: FloatValue) => attend(layer, normed);
    hidden = decoderLayer(model, layer, hidden, ofLayer, layer === last ? select : undefined);
  }
  return languageModelHead(model, finalNorm(model, hidden));
}

function adapterInputs(graph: Graph, { scale, shapes }: AdapterShape): DecoderAdapter {
  const modules = [...shapes.keys()].filter((name) => name.endsWith(".lora_A.weight"));
  const input = (name: string) => graph.input(name, "float32", shapes.get(name)!);
  const pairs = modules.map((first) => {
    const module = first.slice(0, -".lora_A.weight".length);
    return [module, { a: input(first), b: input(`${module}.lora_B.weight`) }] as const;
  });
  return { scale, pairs: new Map(pairs) };
}
