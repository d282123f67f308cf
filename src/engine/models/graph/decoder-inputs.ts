import type { Dimension } from "../../onnx/dimensions.ts";
import type { Graph } from "../../onnx/graph.ts";
import type { ModelConfig } from "../config/model-config.ts";
import type { DecoderInputs } from "./decoder.ts";
import { routedLayers } from "./expert-choice.ts";

/**
 * Adds the inputs of a forward pass over whole sequences, padded to a length, under the names that a TokenBatch feeds.
 * `hasPrefix`: the sequences begin with the same tokens.
 */
export function decoderInputs(
  graph: Graph,
  config: ModelConfig,
  length: Dimension = "length",
  hasPrefix = false,
): DecoderInputs {
  const tokens = graph.input("tokens", "int64", ["rows"]);
  const positions = graph.input("positions", "int64", ["rows"]);
  const index = graph.input("index", "int64", ["batch", length]);
  const own = hasPrefix ? graph.input("ownRows", "int64", ["own"]) : undefined;
  const prefix = own && { rows: graph.input("prefixRows", "int64", ["prefix"]), own };
  const places = graph.input("places", "int64", [own ? "own" : "rows"]);
  const present = graph.input("present", "float32", ["batch", length]);
  const shared = graph.input("shared", "int64", ["shared"]);
  const copies = graph.input("copies", "int64", ["shared", "copies"]);
  const copied = graph.input("copied", "float32", ["shared", 1, "copies"]);
  const actions = graph.input("actions", "int64", ["actions"]);
  const routers = routedLayers(config).length;
  const ties = routers > 0 ? graph.input("ties", "int64", ["rows", routers]) : undefined;
  const images = config.vision
    ? {
        numbers: graph.input("imageNumbers", "int64", ["rows"]),
        embeddings: graph.input("images", "float32", ["images", config.hidden_size]),
      }
    : undefined;
  const layout = { index, places, present, shared, copies, copied };
  return { tokens, positions, layout, prefix, actions, ties, images };
}
