import type { DataType } from "./graph.ts";

/** ONNX's numbers of the element types (TensorProto.DataType). */
export const elementTypes: Readonly<Record<DataType, number>> = {
  float32: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  bfloat16: 16,
  uint4: 21,
};
