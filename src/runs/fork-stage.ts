import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../store/make-folder.ts";
import { isSystemError } from "../store/system-error.ts";
import type { RunFolder } from "./run-folder.ts";

/** Whether a stage holds forks of trajectories: they train no step and are no part of the run's own work. */
export function isForkStage(stage: string): boolean {
  return /^fork-\d+$/.test(stage);
}

/** Takes the next free stage for forks, `fork-0001` and so on, by making its folder. */
export async function takeForkStage({ root }: RunFolder): Promise<string> {
  const trajectories = join(root, "trajectories");
  makeFolder(trajectories);
  const taken = (await readdir(trajectories)).filter(isForkStage).map((name) => Number(name.slice(5)));
  for (let next = Math.max(0, ...taken) + 1; ; next++) {
    const stage = `fork-${String(next).padStart(4, "0")}`;
    try {
      await mkdir(join(trajectories, stage));
      return stage;
    } catch (error) {
      if (!isSystemError(error, "EEXIST")) throw error;
    }
  }
}
