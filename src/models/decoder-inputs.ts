import type { Dimension } from "../onnx/dimensions.ts";
import type { Graph } from "../onnx/graph.ts";
import type { DecoderInputs } from "./decoder.ts";

/**
 * The inputs of a forward pass over whole sequences, padded to a length, under the names that a TokenBatch feeds; with `hasPrefix`, of one whose
 * sequences begin with the same tokens.
 */
export function decoderInputs(graph: Graph, length: Dimension = "length", hasPrefix = false): DecoderInputs {
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
  return { tokens, positions, layout: { index, places, present, shared, copies, copied }, prefix, actions };
}
