/** Bytes per number of each element type. */
export const elementBytes = {
  float32: 4,
  float16: 2,
  bfloat16: 2,
  int32: 4,
  int64: 8,
  bool: 1,
  int8: 1,
  uint8: 1,
  uint4: 0.5,
} as const;
