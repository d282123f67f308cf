import { statSync } from "node:fs";
import { join, relative } from "node:path";
import {
  adapterConfigFile,
  type FrozenBase,
  type LazyTensor,
  type LoraSettings,
  openWeights,
  persistently,
  readAdapter,
  readFrozenWeights,
  readWeights,
  type Tensor,
  type TrainerFolders,
  type TrainerState,
  writeAdapterPolicyFolder,
  writeNextPolicyFolder,
} from "everturn/engine";

/** The policy that a trainer starts from. With LoRA the weights are version 0's. */
interface StartingPolicy {
  weights: Map<string, Tensor>;
  /** Those of version 0 that stay in their files. */
  base?: FrozenBase;
  /** Of a version that was trained with LoRA; else empty. */
  adapter: Map<string, Tensor>;
  /** Gives the reference's weights, or its adapter; none if it is version 0 itself without one. */
  reference?: () => Promise<ReadonlyMap<string, Tensor | LazyTensor>>;
}

/** Reads it. Where all is computed exactly (`computesExactly`), a large base of half precision stays as it is. */
export async function readPolicy(
  { initial, policy, reference }: TrainerFolders,
  lora: LoraSettings | undefined,
  isExact: boolean,
): Promise<StartingPolicy> {
  if (lora === undefined) {
    const weights = await readWeights(policy);
    return {
      weights,
      adapter: new Map(),
      ...(reference !== undefined && { reference: () => openWeights(reference) }),
    };
  }
  const adapterIn = async (folder: string) => (await readAdapter(folder)).tensors;
  return {
    ...(await readFrozenWeights(initial, isExact ? undefined : Number.POSITIVE_INFINITY)),
    adapter: (await hasAdapter(policy)) ? await adapterIn(policy) : new Map(),
    ...(reference !== undefined &&
      (await hasAdapter(reference)) && { reference: () => adapterIn(reference) }),
  };
}

/** Writes a version: its weights, or its adapter in PEFT's format, beside version 0's other files. */
export async function writePolicy(
  folder: string,
  initial: string,
  state: TrainerState,
  lora: LoraSettings | undefined,
): Promise<void> {
  if (lora === undefined) return writeNextPolicyFolder(folder, initial, state.weights);
  return writeAdapterPolicyFolder(
    folder,
    initial,
    { ...lora, base: relative(folder, initial) },
    state.adapter,
  );
}

async function hasAdapter(folder: string): Promise<boolean> {
  const found = () => statSync(join(folder, adapterConfigFile), { throwIfNoEntry: false });
  return (await persistently(found)) !== undefined;
}
