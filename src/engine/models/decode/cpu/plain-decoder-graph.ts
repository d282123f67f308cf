import { product } from "../../../onnx/dimensions.ts";
import { createGraph, type FloatValue, type Graph } from "../../../onnx/graph.ts";
import { gather } from "../../../onnx/indexing.ts";
import { reshape } from "../../../onnx/shaping.ts";
import { type ModelConfig, windowOf } from "../../config/model-config.ts";
import { choiceTold } from "../../graph/expert-choice.ts";
import { embedTokensAndImages } from "../../graph/image-embeddings.ts";
import { nextTokenOutputs } from "../../graph/next-token.ts";
import { headInputs, rememberAndAttend } from "../../graph/plain-attention.ts";
import { type AdapterShape, type DecodedWeights, decodedLogits, decodingModel } from "../decoding-model.ts";

/**
 * Builds the decoding graph with attention in plain operators, for models that the runtime's operator doesn't support.
 * Keys and values stay in place like in `inPlaceDecoderGraph`, all in float32.
 * - Inputs: tokens and positions [batch, length]; last [batch], the index of each row's last token in [batch · length];
 *   places [batch, kv heads, length, 3], the destinations of new keys and values; keys and values of each layer [batch,
 *   kv heads, capacity, head size]; mask [batch, 1, length, capacity], to be added to the scores, and windowMask for
 *   layers with a sliding window; an adapter's matrices by name.
 * - Outputs: newKeys and newValues of each layer, to be bound to the memory of keys and values; those of
 *   `nextTokenOutputs`; routing ties as in `inPlaceDecoderGraph`.
 */
export function plainDecoderGraph(
  config: ModelConfig,
  weights: DecodedWeights,
  adapter?: AdapterShape,
): Graph {
  const graph = createGraph();
  const { num_key_value_heads: groups, head_dim: size } = config;
  const model = { ...decodingModel(graph, config, weights, adapter), choose: choiceTold(config) };
  const tokens = graph.input("tokens", "int64", ["batch", "length"]);
  const positions = graph.input("positions", "int64", ["batch", "length"]);
  const last = graph.input("last", "int64", ["batch"]);
  const places = graph.input("places", "int64", ["batch", groups, "length", 3]);
  const maskOf = masks(graph);
  const embedded = embedTokensAndImages(model, reshape(tokens, [product(["batch", "length"])]));
  const attend = (layer: number, normed: FloatValue) => {
    const shape = ["batch", groups, "capacity", size];
    const past = {
      keys: graph.input(`keys${layer}`, "float32", shape),
      values: graph.input(`values${layer}`, "float32", shape),
    };
    const inputs = headInputs(model, layer, normed, positions);
    const mask = maskOf(windowOf(config, layer) !== undefined);
    const { attended, ...fresh } = rememberAndAttend(inputs, past, places, mask, config);
    graph.output(`newKeys${layer}`, fresh.keys);
    graph.output(`newValues${layer}`, fresh.values);
    return attended;
  };
  nextTokenOutputs(decodedLogits(model, embedded, attend, (all) => gather(all, last)));
  return graph;
}

/** The masks of layers without and with a sliding window. Each becomes an input when a layer first needs it. */
function masks(graph: Graph): (windowed: boolean) => FloatValue {
  const made = new Map<boolean, FloatValue>();
  return (windowed) => {
    const shape = ["batch", 1, "length", "capacity"];
    const mask = made.get(windowed) ?? graph.input(windowed ? "windowMask" : "mask", "float32", shape);
    made.set(windowed, mask);
    return mask;
  };
}
