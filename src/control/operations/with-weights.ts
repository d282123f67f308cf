import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { isWeightsFile } from "../../engine/models/weights/located-tensors.ts";
import { isAdapterFolder } from "../../engine/models/weights/policy-weights.ts";
import { loadTrainer } from "../../plugin/registry/registry.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { versionFolder } from "./find-version.ts";

/** The folders of a version and of the base model of its adapter. */
export interface VersionWeights {
  /** The version's own folder. */
  folder: string;
  /** The folder with its weights: the same one, or a copy. */
  policy: string;
  /** Absent if version 0 has no weights, because a training server has the base model. */
  base?: string;
}

/**
 * Calls `work` with folders that contain a version's weights. An adapter on a training server is downloaded into a
 * temporary folder. Throws POLICY_NOT_FOUND, FILES_GONE, POLICY_ON_SERVER, and the errors of the trainer's download.
 */
export async function withWeights<Result>(
  run: OpenRun,
  version: number | string,
  work: (folders: VersionWeights) => Promise<Result>,
): Promise<Result> {
  const [folder, initial] = [await versionFolder(run, version), await versionFolder(run, 0)];
  const base = (await hasWeights(initial)) ? { base: initial } : {};
  if (await hasWeights(folder)) return work({ folder, policy: folder, ...base });
  const temporary = await mkdtemp(join(tmpdir(), "everturn-download-"));
  try {
    const { trainer } = run.plan;
    const plugin = await loadTrainer(trainer);
    const isDownloaded = await plugin.download?.(folder, temporary, structuredClone(trainer.config));
    if (isDownloaded === false) throw new EverturnError("POLICY_ON_SERVER", { run: run.id, version });
    return await work({ folder, policy: isDownloaded ? temporary : folder, ...base });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function hasWeights(folder: string): Promise<boolean> {
  return isAdapterFolder(folder) || (await readdir(folder)).some(isWeightsFile);
}
