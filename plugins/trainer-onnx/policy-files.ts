import { statSync } from "node:fs";
import { join, relative } from "node:path";
import {
  adapterConfigFile,
  type FrozenBase,
  type LazyTensor,
  languageWeights,
  openVisionWeights,
  openWeights,
  persistently,
  readAdapter,
  readFrozenWeights,
  readVisionWeights,
  readWeights,
  type Tensor,
  type TrainedModel,
  type TrainerFolders,
  type TrainerState,
  writeAdapterPolicyFolder,
  writeNextPolicyFolder,
} from "everturn/engine";
import type { TrainerConfig } from "./config.ts";

/** The policy from which a trainer starts. With LoRA, the weights are version 0's. */
interface StartingPolicy {
  weights: Map<string, Tensor>;
  /** The weights of version 0 that stay in their files. */
  base?: FrozenBase;
  /** The adapter of a version that was trained with LoRA. Empty for others. */
  adapter: Map<string, Tensor>;
  /**
   * Returns the weights or the adapter of the reference. Absent if the reference is version 0 without an
   * adapter.
   */
  reference?: () => Promise<ReadonlyMap<string, Tensor | LazyTensor>>;
}

/**
 * Reads the policy, with its vision part if that is trained. With exact computation (`computesExactly`), a large
 * half-precision base keeps its precision.
 */
export async function readPolicy(
  { initial, policy, reference }: TrainerFolders,
  { lora, freezeVisionTower }: Pick<TrainerConfig, "lora" | "freezeVisionTower">,
  isExact: boolean,
): Promise<StartingPolicy> {
  if (lora === undefined) {
    const weights = await readWeights(policy);
    const vision = freezeVisionTower ? new Map<string, Tensor>() : await readVisionWeights(policy);
    for (const [name, tensor] of vision) weights.set(name, tensor);
    return {
      weights,
      adapter: new Map(),
      ...(reference !== undefined && {
        reference: async () => languageWeights(await openWeights(reference)),
      }),
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

/**
 * Writes a version: its weights, or its adapter in PEFT's format, and version 0's other files, including a frozen
 * vision part.
 */
export async function writePolicy(
  folder: string,
  initial: string,
  state: TrainerState,
  { lora, freezeVisionTower }: Pick<TrainerConfig, "lora" | "freezeVisionTower">,
  { vision }: Pick<TrainedModel["config"], "vision">,
): Promise<void> {
  if (lora === undefined) {
    const weights = new Map<string, Tensor | LazyTensor>(state.weights);
    const frozen = vision && freezeVisionTower ? await openVisionWeights(initial) : new Map();
    for (const [name, tensor] of frozen) weights.set(name, tensor);
    return writeNextPolicyFolder(folder, initial, weights);
  }
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
