import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../files/make-folder.ts";
import { namesIn } from "../files/names-in.ts";
import type { OpenRun } from "../runs/open-runs.ts";
import { type TrajectoryName, turnKey } from "../store/keys.ts";

/**
 * Copies the journal of a trajectory's first `turns` turns to another one: its activities then return what is recorded
 * instead of doing it again.
 */
export async function copyTurns(
  { folder, store }: Pick<OpenRun, "folder" | "store">,
  { from, to, turns }: { from: TrajectoryName; to: TrajectoryName; turns: number },
): Promise<void> {
  const [source, target] = [folder.trajectory(from), folder.trajectory(to)];
  makeFolder(target);
  const names = (await namesIn(source)).filter((name) => {
    const turn = /^turn-(\d+)-.*\.json$/.exec(name)?.[1];
    return turn !== undefined && Number(turn) <= turns;
  });
  await Promise.all(names.map((name) => copyFile(join(source, name), join(target, name))));
  for (let turn = 1; turn <= turns; turn++) {
    const recorded = await store.read(turnKey(from, turn));
    if (recorded !== undefined) await store.record(turnKey(to, turn), recorded);
  }
}
