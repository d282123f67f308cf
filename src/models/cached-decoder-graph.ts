import { product } from "../onnx/dimensions.ts";
import { createGraph, type FloatValue, type Graph } from "../onnx/graph.ts";
import { gather } from "../onnx/indexing.ts";
import { reshape } from "../onnx/shaping.ts";
import { attendToPast, headInputs } from "./cached-attention.ts";
import {
  type DecoderAdapter,
  type DecoderModel,
  embedTokens,
  finalNorm,
  languageModelHead,
} from "./decoder-blocks.ts";
import { decoderLayer } from "./decoder-layer.ts";
import { type ModelConfig, windowOf } from "./model-config.ts";
import { nextTokenOutputs } from "./next-token.ts";
import { rotaryTables } from "./rotary-tables.ts";
import type { Tensor } from "./safetensors.ts";
import type { StoredTensor, WeightSources } from "./weight-sources.ts";

/** Shapes of a LoRA adapter's matrices by their names (`….lora_A.weight` [rank, in], `….lora_B.weight` [out, rank]). */
export interface AdapterShape {
  /** alpha / rank. */
  scale: number;
  shapes: ReadonlyMap<string, readonly number[]>;
}

/** The weights that a decoding graph is made of. */
export type DecodedWeights = Pick<WeightSources, "tensors" | "quantized"> & Pick<DecoderModel, "activations">;

/**
 * The decoding graph for keys and values that are fed and fetched, with the weights as its constants and an adapter's matrices as inputs of their names. Inputs:
 * tokens and positions [batch, length]; last [batch], the number in [batch · length] of each row's last token;
 * pastKeys and pastValues of each layer [batch, kv heads, past, head size]; masks added to the scores, pastMask
 * [batch, 1, 1, past] and newMask [length, length], for layers with a sliding window pastWindowMask
 * [batch, 1, length, past] and newWindowMask. Outputs: keys and values of each layer for the new tokens alone, and
 * those of `nextTokenOutputs`.
 */
export function cachedDecoderGraph(
  config: ModelConfig,
  weights: DecodedWeights,
  adapter?: AdapterShape,
): Graph {
  const graph = createGraph();
  const model = decodingModel(graph, config, weights, adapter);
  const tokens = graph.input("tokens", "int64", ["batch", "length"]);
  const positions = graph.input("positions", "int64", ["batch", "length"]);
  const last = graph.input("last", "int64", ["batch"]);
  const maskOf = masks(graph);
  let hidden = embedTokens(model, reshape(tokens, [product(["batch", "length"])]));
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    hidden = decoderLayer(model, layer, hidden, (normed) => {
      const shape = ["batch", config.num_key_value_heads, "past", config.head_dim];
      const past = {
        keys: graph.input(`pastKeys${layer}`, "float32", shape),
        values: graph.input(`pastValues${layer}`, "float32", shape),
      };
      const inputs = headInputs(model, layer, normed, positions);
      graph.output(`keys${layer}`, inputs.keys);
      graph.output(`values${layer}`, inputs.values);
      return attendToPast(inputs, past, maskOf(windowOf(config, layer) !== undefined), config);
    });
  }
  nextTokenOutputs(languageModelHead(model, gather(finalNorm(model, hidden), last)));
  return graph;
}

const dataTypes = { F32: "float32", F16: "float16", BF16: "bfloat16" } as const;

/** A model to decode with: its weights as constants, an adapter's matrices as inputs of their names. */
export function decodingModel(
  graph: Graph,
  config: ModelConfig,
  { tensors, quantized, activations }: DecodedWeights,
  adapter?: AdapterShape,
  tables = rotaryTables(graph, config),
): DecoderModel {
  const constant = (tensor: Tensor | StoredTensor): FloatValue =>
    "file" in tensor
      ? graph.stored(tensor.file, tensor.offset, tensor.shape, dataTypes[tensor.dtype])
      : graph.floats(tensor.data, tensor.shape);
  return {
    config,
    weights: new Map([...tensors].map(([name, tensor]) => [name, constant(tensor)])),
    ...(quantized && { frozen: quantized }),
    ...(activations && { activations }),
    tables,
    inference: true,
    ...(adapter && { adapter: adapterInputs(graph, adapter) }),
  };
}

/** The masks of layers without and with a sliding window, inputs made when a layer first asks for them. */
function masks(graph: Graph): (windowed: boolean) => FloatValue {
  const made = new Map<boolean, FloatValue>();
  return (windowed) => {
    const shape = ["batch", 1, "length", "total"];
    const mask = made.get(windowed) ?? graph.input(windowed ? "windowMask" : "mask", "float32", shape);
    made.set(windowed, mask);
    return mask;
  };
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
