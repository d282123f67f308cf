import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readSafetensors, type Tensor, type TrainerState, writeSafetensors } from "everturn/plugin";

const valueHeadFile = "value-head.safetensors";
const optimizerFile = "optimizer.safetensors";
const countersFile = "state.json";

/** Writes what a trainer needs beside the policy's weights: value head, Adam's moments, counters. */
export async function writeTrainerState(folder: string, state: TrainerState): Promise<void> {
  const { updates, policyGradientSteps } = state;
  await mkdir(folder, { recursive: true });
  await writeSafetensors(join(folder, valueHeadFile), state.valueHead);
  await writeSafetensors(join(folder, optimizerFile), state.optimizer);
  await writeFile(join(folder, countersFile), JSON.stringify({ updates, policyGradientSteps }));
}

/** Reads a folder that writeTrainerState wrote, for the policy's `weights`. */
export async function readTrainerState(folder: string, weights: Map<string, Tensor>): Promise<TrainerState> {
  const { updates, policyGradientSteps } = JSON.parse(await readFile(join(folder, countersFile), "utf8"));
  return {
    weights,
    valueHead: await readSafetensors(join(folder, valueHeadFile)),
    optimizer: await readSafetensors(join(folder, optimizerFile)),
    updates,
    policyGradientSteps,
  };
}
