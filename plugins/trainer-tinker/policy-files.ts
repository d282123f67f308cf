import { statSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import {
  copyPolicyFiles,
  EverturnError,
  makeFolder,
  persistently,
  type RemoteTrainerOptions,
  readAdapter,
  writeAdapterPolicyFolder,
} from "everturn/engine";

/** An adapter's rank, and the layers that have one. */
export interface AdapterSettings {
  rank: number;
  attention: boolean;
  mlp: boolean;
  unembedding: boolean;
}

/** Where a version's weights are. A policy folder has it in place of weights. */
export interface WeightsPointer {
  server: string;
  url: string;
  baseModel: string;
  /** The path of the checkpoint on the server. Absent in a version 0, whose weights are those of the base model. */
  path?: string;
  /** The adapter in the checkpoint. */
  lora?: AdapterSettings;
}

/** The trainer's own state. Adam's moments are in the server's checkpoint. */
export interface SavedState {
  counters: RemoteTrainerOptions["state"];
  /** The server's name of the model that was trained, and the numbers of its calls since the previous version. */
  model: string;
  numbers: { first: number; last: number };
}

/** The file of a policy folder that names the version's weights on the server. */
export const pointerFile = "tinker.json";
const stateFile = "state.json";

/** Reads a policy folder's pointer. Undefined if it has none. */
export async function readPointer(folder: string): Promise<WeightsPointer | undefined> {
  const file = join(folder, pointerFile);
  const found = await persistently(() => statSync(file, { throwIfNoEntry: false }));
  return found === undefined ? undefined : JSON.parse(await persistently(() => readFile(file, "utf8")));
}

/** Writes a version: version 0's files without weights, and the pointer. */
export async function writePolicy(folder: string, initial: string, pointer: WeightsPointer): Promise<void> {
  await copyPolicyFiles(folder, initial);
  await writePointer(folder, pointer);
}

/**
 * Writes an adapter into a policy folder, from the folder to which a server's was downloaded. Like that of `trainer-onnx`
 * it names version 0's folder as its base, and the layers that it adapts.
 */
export async function writeAdapter(folder: string, initial: string, downloaded: string): Promise<void> {
  const { config, tensors } = await readAdapter(downloaded);
  await writeAdapterPolicyFolder(folder, initial, { ...config, base: relative(folder, initial) }, tensors);
}

/** Writes a policy folder's pointer. */
export async function writePointer(folder: string, pointer: WeightsPointer): Promise<void> {
  await writeJson(join(folder, pointerFile), pointer);
}

/** Reads a state folder. Throws TRAINING_STATE_INVALID unless the version was trained on a server. */
export async function readState(folder: string, pointer: WeightsPointer | undefined): Promise<SavedState> {
  if (pointer?.path === undefined) {
    const reason = `the policy has no ${pointerFile} that names its weights on the server`;
    throw new EverturnError("TRAINING_STATE_INVALID", { reason });
  }
  return JSON.parse(await persistently(() => readFile(join(folder, stateFile), "utf8")));
}

/** Writes the state. */
export async function writeState(folder: string, state: SavedState): Promise<void> {
  await persistently(() => makeFolder(folder));
  await writeJson(join(folder, stateFile), state);
}

async function writeJson(file: string, value: object): Promise<void> {
  await persistently(() => writeFile(file, `${JSON.stringify(value, null, 2)}\n`));
}
