/** A value of GGUF metadata. 64-bit integers are numbers here. */
export type GgufValue = number | boolean | string | GgufValue[];

/** GGUF's numbers for the types of metadata values. */
export const valueTypes = {
  uint8: 0,
  int8: 1,
  uint16: 2,
  int16: 3,
  uint32: 4,
  int32: 5,
  float32: 6,
  bool: 7,
  string: 8,
  array: 9,
  uint64: 10,
  int64: 11,
  float64: 12,
} as const;
