import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import type { TinkerClient, TinkerModel } from "@everturn/tinker";
import { readAdapter, type Tensor, writeAdapterPolicyFolder } from "everturn/engine";

/** Matrices by name. */
export type Matrices = ReadonlyMap<string, Tensor>;

/** The adapter that SkyRL trains at a rank: its alpha is always 32. */
export const lora = {
  rank: 8,
  alpha: 32,
  targets: ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
};

/** Downloads a model's current adapter to `folder`, which is empty or missing, in PEFT's format. Returns its matrices. */
export async function downloadAdapter(
  client: TinkerClient,
  model: TinkerModel,
  folder: string,
): Promise<Matrices> {
  await mkdir(folder, { recursive: true });
  const { path } = await model.saveWeightsForSampler({ path: `adapter-${model.nextSeqId}` });
  if (path === undefined) throw new Error("the server saved the adapter under no name");
  const archive = join(folder, "adapter.tar.gz");
  await client.checkpoints.download(path, archive);
  await promisify(execFile)("tar", ["--extract", "--gzip", "--file", archive, "--directory", folder]);
  return (await readAdapter(folder)).tensors;
}

/** Writes a version of the policy in `initial` whose adapter has these matrices, for `trainer-onnx`. */
export async function writeAdapterVersion(
  folder: string,
  initial: string,
  matrices: Matrices,
  adapter = lora,
): Promise<void> {
  await writeAdapterPolicyFolder(folder, initial, { ...adapter, base: relative(folder, initial) }, matrices);
}

/** Returns each matrix plus `factor` times the other of its name. */
export function plus(matrices: Matrices, others: Matrices, factor: number): Map<string, Tensor> {
  return new Map(
    [...matrices].map(([name, { shape, data }]) => {
      const other = others.get(name)?.data;
      if (other === undefined) throw new Error(`there is no other ${name}`);
      return [name, { shape, data: data.map((value, at) => value + factor * other[at]!) }];
    }),
  );
}

/**
 * Returns a gradient for a server that trains one A for the projections of an attention or of a gated unit: the sum of theirs, for each
 * of them.
 */
export function withSharedInputs(gradient: Matrices): Map<string, Tensor> {
  const groupOf = (name: string) =>
    name.replace(/\b[qkv]_proj\.lora_A/, "qkv").replace(/\b(gate|up)_proj\.lora_A/, "gate_up");
  const sums = new Map<string, Float32Array>();
  for (const [name, { data }] of gradient) {
    const sum = sums.get(groupOf(name)) ?? new Float32Array(data.length);
    sums.set(
      groupOf(name),
      sum.map((value, at) => value + data[at]!),
    );
  }
  return new Map([...gradient].map(([name, { shape }]) => [name, { shape, data: sums.get(groupOf(name))! }]));
}

/** The norm of all numbers. */
export function normOf(matrices: Matrices): number {
  const squares = [...matrices.values()].map(({ data }) => data.reduce((sum, value) => sum + value ** 2, 0));
  return Math.sqrt(squares.reduce((sum, value) => sum + value, 0));
}

/** The largest difference in a matrix, relative to the matrix's largest number. Throws if the names differ. */
export function largestDifference(matrices: Matrices, expected: Matrices): number {
  const names = (all: Matrices) => [...all.keys()].sort().join(" ");
  if (names(matrices) !== names(expected)) throw new Error("the adapters have different matrices");
  const differences = [...expected].map(([name, { data }]) => {
    return relativeDifference(matrices.get(name)!.data, data);
  });
  return Math.max(...differences);
}

/** The largest difference of two lists of numbers, relative to the largest expected number. */
export function relativeDifference(numbers: ArrayLike<number>, expected: ArrayLike<number>): number {
  if (numbers.length !== expected.length) throw new Error("there are not as many numbers as expected");
  let [difference, size] = [0, 0];
  for (let at = 0; at < expected.length; at++) {
    difference = Math.max(difference, Math.abs(numbers[at]! - expected[at]!));
    size = Math.max(size, Math.abs(expected[at]!));
  }
  return difference / size;
}
