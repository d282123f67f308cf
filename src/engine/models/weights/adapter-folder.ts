import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { makeFolder } from "../../../base/files/make-folder.ts";
import { persistently } from "../../../base/files/persistently.ts";
import { writeWhole } from "../../../base/files/whole-files.ts";
import { type AdapterConfig, adapterConfigJson, parseAdapterConfig } from "./adapter-config.ts";
import { readSafetensors, type Tensor, writeSafetensors } from "./safetensors.ts";

/** A LoRA adapter: its configuration and its matrices. */
export interface Adapter {
  config: AdapterConfig;
  /**
   * A [rank, in] and B [out, rank] of each adapted module, by PEFT's names without their prefix:
   * `model.layers.0.self_attn.q_proj.lora_A.weight`.
   */
  tensors: Map<string, Tensor>;
}

/** The files of an adapter, by PEFT's names. */
export const adapterConfigFile = "adapter_config.json";
export const adapterWeightsFile = "adapter_model.safetensors";

const prefix = "base_model.model.";

/**
 * Reads a LoRA adapter in PEFT's format. Throws ADAPTER_INVALID, which names the key or the tensor, for other kinds.
 */
export async function readAdapter(folder: string): Promise<Adapter> {
  const read = () => readFile(join(folder, adapterConfigFile), "utf8");
  const text = await persistently(read).catch((cause: unknown) => {
    throw invalid(folder, `${adapterConfigFile} can't be read`, cause);
  });
  const settings = parseAdapterConfig(text);
  if (typeof settings === "string") throw invalid(folder, settings);
  const tensors = new Map<string, Tensor>();
  for (const [name, tensor] of await readSafetensors(join(folder, adapterWeightsFile))) {
    if (name.endsWith(".base_layer.weight")) continue; // PEFT's copy of an adapted head's own weight
    if (!name.startsWith(prefix) || !/\.lora_[AB]\.weight$/.test(name)) {
      throw invalid(folder, `the tensor ${name} is not a matrix of a LoRA adapter for linear layers`);
    }
    tensors.set(name.slice(prefix.length), tensor);
  }
  const problem = shapeProblem(tensors, settings.rank);
  if (problem !== undefined) throw invalid(folder, problem);
  return { config: { ...settings, targets: targetsOf(tensors) }, tensors };
}

/** Writes a LoRA adapter in PEFT's format. The matrices come last, so that a folder with them is complete. */
export async function writeAdapter(
  folder: string,
  config: AdapterConfig,
  tensors: ReadonlyMap<string, Tensor>,
): Promise<void> {
  const problem = shapeProblem(tensors, config.rank);
  if (problem !== undefined) throw invalid(folder, problem);
  await persistently(() => makeFolder(folder));
  const json = adapterConfigJson({ ...config, targets: targetsOf(tensors) });
  await persistently(() => writeWhole(join(folder, adapterConfigFile), json));
  const named = new Map([...tensors].map(([name, tensor]) => [prefix + name, tensor]));
  await writeSafetensors(join(folder, adapterWeightsFile), named);
}

/** Returns the ends of the adapted modules' names. */
function targetsOf(tensors: ReadonlyMap<string, Tensor>): string[] {
  return [...new Set([...tensors.keys()].map((name) => name.split(".").at(-3)!))].sort();
}

function shapeProblem(tensors: ReadonlyMap<string, Tensor>, rank: number): string | undefined {
  if (tensors.size === 0) return "it has no matrices";
  for (const [name, { shape }] of tensors) {
    const isFirst = name.endsWith(".lora_A.weight");
    const other = name.replace(/\.lora_[AB]\.weight$/, isFirst ? ".lora_B.weight" : ".lora_A.weight");
    if (!tensors.has(other)) return `${name} has no matching ${other}`;
    if (shape.length !== 2 || shape[isFirst ? 0 : 1] !== rank) {
      return `${name} of shape [${shape.join(", ")}] is not of rank ${rank}`;
    }
  }
  return undefined;
}

function invalid(folder: string, reason: string, cause?: unknown): EverturnError {
  return new EverturnError("ADAPTER_INVALID", { folder, reason }, { cause });
}
