import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readSafetensors, type TrainerState, writeSafetensors } from "everturn/engine";

const valueHeadFile = "value-head.safetensors";
const optimizerFile = "optimizer.safetensors";
const countersFile = "state.json";

/** Writes what a trainer needs beside the policy's weights: value head, Adam's moments, counters. */
export async function writeTrainerState(folder: string, state: TrainerState): Promise<void> {
  const { updates, policyGradientSteps, klCoefficient, rewards, lossScale } = state;
  await mkdir(folder, { recursive: true });
  await writeSafetensors(join(folder, valueHeadFile), state.valueHead);
  await writeSafetensors(join(folder, optimizerFile), state.optimizer);
  await writeFile(
    join(folder, countersFile),
    JSON.stringify({ updates, policyGradientSteps, klCoefficient, rewards, lossScale }),
  );
}

/** Reads a folder that writeTrainerState wrote, for a policy's weights and adapter. */
export async function readTrainerState(
  folder: string,
  policy: Pick<TrainerState, "weights" | "adapter">,
): Promise<TrainerState> {
  const counters = JSON.parse(await readFile(join(folder, countersFile), "utf8"));
  return {
    ...policy,
    ...counters,
    valueHead: await readSafetensors(join(folder, valueHeadFile)),
    optimizer: await readSafetensors(join(folder, optimizerFile)),
  };
}
