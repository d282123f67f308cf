import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { median } from "../shapes.ts";

/** Of one turn over all trajectories of a stage, what its generations took beyond their own time, in milliseconds. */
export interface TurnSpread {
  turn: number;
  median: number;
  most: number;
}

/**
 * How late each turn of the run's folder `run` was, by the times at which the turns' files were written: from one turn's file to the next, less
 * the `seconds` of a generation. The first turn has nothing before it and is left out.
 */
export async function turnSpread(run: string, stage: string, seconds: number): Promise<TurnSpread[]> {
  const stageFolder = join(run, "trajectories", stage);
  const late = new Map<number, number[]>();
  for (const task of await readdir(stageFolder)) {
    const written = await writtenAt(join(stageFolder, task, "0"));
    for (const [index, at] of written.entries()) {
      const before = written[index - 1];
      if (before === undefined) continue;
      const turn = index + 1;
      late.set(turn, [...(late.get(turn) ?? []), at - before - 1000 * seconds]);
    }
  }
  return [...late].map(([turn, all]) => ({ turn, median: median(all), most: Math.max(...all) }));
}

/** When the file of each turn was written, in milliseconds. */
async function writtenAt(trajectory: string): Promise<number[]> {
  const times: number[] = [];
  for (const name of await readdir(trajectory)) {
    const turn = /^turn-(\d+)\.json$/.exec(name)?.[1];
    if (turn !== undefined) times[Number(turn) - 1] = (await stat(join(trajectory, name))).mtimeMs;
  }
  return times;
}
