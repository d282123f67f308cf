import type { FloatValue, Graph } from "../../onnx/graph.ts";
import type { Tensor } from "./safetensors.ts";
import type { StoredTensor } from "./weight-sources.ts";

const dataTypes = { F32: "float32", F16: "float16", BF16: "bfloat16" } as const;

/** Returns a weight as a constant of a graph: numbers in memory, or in a file that the session maps into memory. */
export function weightConstant(graph: Graph, tensor: Tensor | StoredTensor): FloatValue {
  return "file" in tensor
    ? graph.stored(tensor.file, tensor.offset, tensor.shape, dataTypes[tensor.dtype])
    : graph.floats(tensor.data, tensor.shape);
}
