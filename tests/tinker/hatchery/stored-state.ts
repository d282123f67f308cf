import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { readSafetensors } from "everturn/engine";
import type { Matrices } from "../adapters.ts";
import { fetchEnvironment } from "../fetch-environment.ts";
import type { HatcheryServer } from "./hatchery.ts";

/** PEFT's prefix of names in files. */
const prefix = "base_model.model.";

/** Reads the matrices that Hatchery stored in a file, by Everturn's names. Writes them to `folder` on the way. */
export async function readStored(file: string, folder: string): Promise<Matrices> {
  const python = join(await fetchEnvironment("hatchery"), "bin", "python");
  const target = join(folder, "matrices.safetensors");
  await mkdir(folder, { recursive: true });
  await promisify(execFile)(python, [join(import.meta.dirname, "read_state.py"), file, target]);
  const tensors = await readSafetensors(target);
  return new Map([...tensors].map(([name, tensor]) => [name.replace(prefix, ""), tensor]));
}

/** The adapter of a checkpoint. Hatchery has no call to download one. */
export function readCheckpoint(server: HatcheryServer, path: string, folder: string): Promise<Matrices> {
  const [model = "", , name = ""] = path.replace("tinker://", "").split("/");
  return readStored(join(server.checkpoints, model, "checkpoints", name, "lora_weights.pt"), folder);
}
