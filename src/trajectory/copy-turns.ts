import { copyFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../store/make-folder.ts";

/**
 * Copies the journal of a trajectory's first `turns` turns, byte for byte, from its folder `from` into the folder of
 * another one: its activities then return what is recorded instead of doing it again.
 */
export async function copyTurns(from: string, to: string, turns: number): Promise<void> {
  makeFolder(to);
  const names = (await readdir(from)).filter((name) => {
    const turn = /^turn-(\d+)(-.*)?\.json$/.exec(name)?.[1];
    return turn !== undefined && Number(turn) <= turns;
  });
  await Promise.all(names.map((name) => copyFile(join(from, name), join(to, name))));
}
