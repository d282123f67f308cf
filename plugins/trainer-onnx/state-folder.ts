import { statSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  makeFolder,
  persistently,
  readSafetensors,
  readTensors,
  type Tensor,
  type TrainerState,
  writeSafetensors,
} from "everturn/engine";

const valueHeadFile = "value-head.safetensors";
const optimizerFile = "optimizer.safetensors";
const countersFile = "state.json";
/**
 * The prefix of the files of a separate critic: its weights or adapter, and its other files, named as the
 * policy's.
 */
const critic = "critic-";
const criticFile = "critic.safetensors";

/**
 * Writes the trainer's state in addition to the policy's weights: value head, Adam's moments, counters, a
 * separate critic.
 */
export async function writeTrainerState(folder: string, state: TrainerState): Promise<void> {
  await persistently(() => makeFolder(folder));
  await writeParts(folder, "", state);
  if (state.critic === undefined) return;
  await writeParts(folder, critic, state.critic);
  await writeSafetensors(join(folder, criticFile), learnedOf(state.critic));
}

/** Reads a folder that writeTrainerState wrote, for a policy's weights and adapter. */
export async function readTrainerState(
  folder: string,
  policy: Pick<TrainerState, "weights" | "adapter">,
): Promise<TrainerState> {
  const state = { ...policy, ...(await readParts(folder, "")) };
  const critics = () => statSync(join(folder, criticFile), { throwIfNoEntry: false });
  if ((await persistently(critics)) === undefined) return state;
  const learned = await readSafetensors(join(folder, criticFile));
  const isAdapted = [...learned.keys()].some((name) => name.includes(".lora_"));
  const own = isAdapted ? { ...policy, adapter: learned } : { weights: learned, adapter: new Map() };
  return { ...state, critic: { ...own, ...(await readParts(folder, critic)) } };
}

type Parts = Omit<TrainerState, "weights" | "adapter" | "critic">;

async function writeParts(folder: string, prefix: string, state: Parts): Promise<void> {
  const { updates, policyGradientSteps, klCoefficient, rewards, lossScale } = state;
  const at = (file: string) => join(folder, `${prefix}${file}`);
  await writeSafetensors(at(valueHeadFile), state.valueHead);
  await writeSafetensors(at(optimizerFile), state.optimizer);
  const counters = { updates, policyGradientSteps, klCoefficient, rewards, lossScale };
  await persistently(() => writeFile(at(countersFile), JSON.stringify(counters)));
}

async function readParts(folder: string, prefix: string): Promise<Parts> {
  const at = (file: string) => join(folder, `${prefix}${file}`);
  return {
    ...JSON.parse(await persistently(() => readFile(at(countersFile), "utf8"))),
    valueHead: await readSafetensors(at(valueHeadFile)),
    optimizer: await readTensors(at(optimizerFile)),
  };
}

/** The trained parts of a model in addition to its value head. */
function learnedOf({ weights, adapter }: TrainerState): Map<string, Tensor> {
  return adapter.size > 0 ? adapter : weights;
}
