import { statSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../../base/files/make-folder.ts";
import { persistently } from "../../base/files/persistently.ts";
import { defined } from "../../base/records/defined.ts";
import {
  readSafetensors,
  readTensors,
  type Tensor,
  writeSafetensors,
} from "../models/weights/safetensors.ts";
import type { TrainerState } from "./trainer-state.ts";

const valueHeadFile = "value-head.safetensors";
const optimizerFile = "optimizer.safetensors";
const countersFile = "state.json";
/** The prefix of the files of a separate critic, which are named as the policy's. */
const criticPrefix = "critic-";
/** A separate critic's weights or adapter. */
const criticFile = "critic.safetensors";

/**
 * Writes the trainer's state in addition to the policy's weights: value head, Adam's moments, counters, a separate
 * critic.
 */
export async function writeTrainerState(folder: string, state: TrainerState): Promise<void> {
  await persistently(() => makeFolder(folder));
  await writeParts(folder, "", state);
  if (state.critic !== undefined) await writeCritic(folder, state.critic);
}

/** Writes a separate critic into a state folder. */
export async function writeCritic(folder: string, critic: TrainerState): Promise<void> {
  await writeParts(folder, criticPrefix, critic);
  await writeSafetensors(join(folder, criticFile), learnedOf(critic));
}

/** Reads a folder that `writeTrainerState` wrote, for a policy's weights and adapter. */
export async function readTrainerState(
  folder: string,
  policy: Pick<TrainerState, "weights" | "adapter">,
): Promise<TrainerState> {
  const critic = await readCritic(folder, policy.weights);
  return defined({ ...policy, ...(await readParts(folder, "")), critic });
}

/** Reads the critic in a state folder; undefined if there is none. `frozen` are the weights under its adapter. */
export async function readCritic(
  folder: string,
  frozen: TrainerState["weights"] = new Map(),
): Promise<TrainerState | undefined> {
  const found = () => statSync(join(folder, criticFile), { throwIfNoEntry: false });
  if ((await persistently(found)) === undefined) return undefined;
  const learned = await readSafetensors(join(folder, criticFile));
  const isAdapted = [...learned.keys()].some((name) => name.includes(".lora_"));
  const own = isAdapted ? { weights: frozen, adapter: learned } : { weights: learned, adapter: new Map() };
  return { ...own, ...(await readParts(folder, criticPrefix)) };
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
