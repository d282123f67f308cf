/** The stored types of weights, by safetensors' names. */
export type FloatType = "F32" | "F16" | "BF16";

/** Bytes per number. */
export const floatBytes: Readonly<Record<FloatType, number>> = { F32: 4, F16: 2, BF16: 2 };

/** Whether a text names a float type. */
export function isFloatType(text: unknown): text is FloatType {
  return typeof text === "string" && Object.hasOwn(floatBytes, text);
}

/** The value of each float16, by its bits. */
export const halfValues: Float32Array = Float32Array.from({ length: 2 ** 16 }, (_, bits) => {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
});

/**
 * Widens numbers in place from front to back, so that no second copy is needed. `data`'s own memory ends with the
 * numbers' bytes in `type` (little-endian).
 */
export function widenInPlace(data: Float32Array, type: FloatType): void {
  if (type === "F32") return;
  const narrow = new Uint16Array(data.buffer, data.byteOffset + data.length * 2, data.length);
  if (type === "F16") {
    for (let i = 0; i < data.length; i++) data[i] = halfValues[narrow[i]!]!;
    return;
  }
  const bits = new Uint32Array(data.buffer, data.byteOffset, data.length);
  for (let i = 0; i < data.length; i++) bits[i] = narrow[i]! << 16;
}

/** Converts float32 numbers to bytes of `type`, little-endian, rounded to nearest even. F32 is not copied. */
export function floatsToBytes(data: Float32Array, type: FloatType): Uint8Array {
  if (type === "F32") return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const round = type === "F16" ? halfBits : brainBits;
  const bits = new Uint32Array(data.buffer, data.byteOffset, data.length);
  const narrow = new Uint16Array(data.length);
  for (let i = 0; i < data.length; i++) narrow[i] = round(bits[i]!, data[i]!);
  return new Uint8Array(narrow.buffer);
}

function brainBits(bits: number): number {
  if ((bits & 0x7fffffff) > 0x7f800000) return (bits >>> 16) | 0x40; // NaN stays NaN
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

function halfBits(bits: number, value: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const size = bits & 0x7fffffff;
  if (size > 0x7f800000) return sign | 0x7e00;
  if (size >= 0x47800000) return sign | 0x7c00;
  if (size >= 0x38800000) return sign | ((size - 0x38000000 + 0xfff + ((size >>> 13) & 1)) >>> 13);
  // Below 2⁻¹⁴ float16 has steps of 2⁻²⁴. Adding 2⁵² to the number of steps rounds it, ties to even.
  return sign | (Math.abs(value) * 2 ** 24 + 2 ** 52 - 2 ** 52);
}
