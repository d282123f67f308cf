import { TinkerError } from "../errors.ts";
import { badAnswer } from "../http/json.ts";
import type { Tensor, TensorInput } from "../types.ts";

/** A tensor that is ready to be sent: checked, and of one of the two types that all servers take. */
export type ReadyTensor =
  | { readonly dtype: "float32"; readonly data: Float32Array; readonly shape: readonly number[] }
  | { readonly dtype: "int64"; readonly data: BigInt64Array; readonly shape: readonly number[] };

/** The numbers of protobuf's enum `DType`. */
export const dtypes = { float32: 1, int64: 2, int32: 3, bfloat16: 4 } as const;

/** Converts and checks a tensor. Throws `invalid-request`; `where` names the tensor. */
export function readyTensor(name: string, input: TensorInput, where: string): ReadyTensor {
  const { data, dtype, shape = [data.length] } = described(name, input);
  const size = shape.reduce((product, length) => product * length, 1);
  if (size !== data.length)
    throw invalid(`${where} has ${data.length} values, but shape [${shape.join(", ")}] has ${size}`);
  if (dtype === "int64") return { dtype, data: integers(data, where), shape };
  return { dtype, data: floats(data, where), shape };
}

/** The tensor in the JSON wire's form. */
export function tensorJson({ dtype, data, shape }: ReadyTensor): unknown {
  return { data: Array.from(data, Number), dtype, shape };
}

/** A tensor of a JSON answer. Throws `bad-answer`. */
export function tensorFromJson(
  data: readonly unknown[],
  dtype: string | undefined,
  shape: readonly number[] | undefined,
): Tensor {
  const flat = numbersFromJson(data.flat(Number.POSITIVE_INFINITY));
  const dimensions = shape ?? [flat.length];
  if (dtype === "int64") return { dtype, data: bigInts(flat), shape: dimensions };
  return { dtype: "float32", data: Float32Array.from(flat), shape: dimensions };
}

/** Numbers of a JSON answer, in which null means NaN. Throws `bad-answer`. */
export function numbersFromJson(values: readonly unknown[]): number[] {
  return values.map((value) => {
    if (value === null) return Number.NaN;
    if (typeof value === "number") return value;
    throw badAnswer(`a list of numbers contains ${JSON.stringify(value)}`);
  });
}

/** The values of a protobuf tensor's bytes, which may start at any address. Throws `bad-answer`. */
export function valuesOf(bytes: Uint8Array, dtype: number): Float32Array | BigInt64Array {
  if (dtype === dtypes.float32) return floatsOf(bytes);
  if (dtype === dtypes.int64) return new BigInt64Array(aligned(bytes, 8));
  if (dtype === dtypes.int32) return BigInt64Array.from(Array.from(integersOf(bytes), BigInt));
  if (dtype === dtypes.bfloat16) return widened(new Uint16Array(aligned(bytes, 2)));
  throw badAnswer(`a tensor has the unknown type ${dtype}`);
}

/** The size of one value of a protobuf tensor in bytes. */
export function sizeOf(dtype: number): number {
  if (dtype === dtypes.int64) return 8;
  return dtype === dtypes.bfloat16 ? 2 : 4;
}

/** float32 values in bytes that may start at any address. */
export function floatsOf(bytes: Uint8Array): Float32Array {
  return new Float32Array(aligned(bytes, 4));
}

/** int32 values in bytes that may start at any address. */
export function integersOf(bytes: Uint8Array): Int32Array {
  return new Int32Array(aligned(bytes, 4));
}

/** An error about a request that was not sent. */
export function invalid(problem: string): TinkerError {
  return new TinkerError("invalid-request", `Nothing was sent: ${problem}.`);
}

/** A copy that starts at an aligned address. `subarray` and Node's buffers don't. */
function aligned(bytes: Uint8Array, size: number): ArrayBuffer {
  if (bytes.length % size !== 0) throw badAnswer(`a tensor of ${size}-byte values has ${bytes.length} bytes`);
  return Uint8Array.from(bytes).buffer;
}

/** bfloat16 is the upper half of float32. */
function widened(halves: Uint16Array): Float32Array {
  const words = Uint32Array.from(halves, (half) => half * 2 ** 16);
  return new Float32Array(words.buffer);
}

type Numbers = readonly number[] | Float32Array | Float64Array | Int32Array | BigInt64Array;

function described(
  name: string,
  input: TensorInput,
): {
  data: Numbers;
  dtype: "float32" | "int64";
  shape?: readonly number[] | undefined;
} {
  if ("dtype" in input) return input;
  if (input instanceof Int32Array || input instanceof BigInt64Array) return { data: input, dtype: "int64" };
  if (input instanceof Float32Array || input instanceof Float64Array)
    return { data: input, dtype: "float32" };
  return { data: input, dtype: name === "target_tokens" ? "int64" : "float32" };
}

function integers(data: Numbers, where: string): BigInt64Array {
  if (data instanceof BigInt64Array) return data;
  const wrong = data.findIndex((value) => !Number.isSafeInteger(value));
  if (wrong >= 0) throw invalid(`${where} has ${data[wrong]} at position ${wrong}, which is not an integer`);
  return bigInts(data);
}

function bigInts(values: Iterable<number>): BigInt64Array {
  return BigInt64Array.from(Array.from(values, BigInt));
}

/** A single NaN among weights would destroy the model, and JSON has no form for it. */
function floats(data: Numbers, where: string): Float32Array {
  const values = data instanceof Float32Array ? data : Float32Array.from(data, Number);
  const wrong = values.findIndex((value) => !Number.isFinite(value));
  if (wrong >= 0)
    throw invalid(`${where} has ${data[wrong]} at position ${wrong}, which is not a finite float32`);
  return values;
}
