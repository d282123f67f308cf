import { hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FoldedEntry, FoldedStep, RowsPlace } from "../../../contracts/folded-step.ts";
import type { Trajectory } from "../../../contracts/generated/trajectory.ts";
import { finishedTrajectory } from "../../projections/finished-trajectory.ts";
import { rebuilt } from "../../projections/parquet-records.ts";
import { rowsOf, type Use } from "../../projections/parquet-rows.ts";
import type { StoredRecords } from "../../projections/stored-records.ts";
import { foldedKey, type TrajectoryName } from "../../store/keys.ts";
import type { Store } from "../../store/store.ts";
import { openRows, writeRows } from "./parquet-file.ts";

/** An ended trajectory of a step. */
export interface Member {
  name: TrajectoryName;
  records: StoredRecords;
  ending: Trajectory;
  use: Use;
}

/**
 * Puts the ended trajectories of a step into one file, once, and returns the current tree. Before the commit it
 * reads the file back to verify that it restores exactly the same records. Throws the same errors as `Store.tree`.
 */
export async function foldStep(
  store: Pick<Store, "tree" | "readTree">,
  step: number,
  members: () => AsyncIterable<Member>,
): Promise<FoldedStep> {
  const key = foldedKey(step);
  const standing = await store.readTree(key);
  if (standing !== undefined) return standing.value;
  let trajectories: FoldedEntry[] = [];
  const tree = await store.tree(
    key,
    async (folder) => {
      const written: Written[] = [];
      const writer = writeRows(folder);
      for await (const member of members()) {
        const rows = rowsOf(member.records, member.ending, member.use);
        const place = writer.add(rows);
        written.push({ folded: foldedTrajectory(member, place), digest: digestOf(rebuilt(rows)) });
        await nextTurn(); // lets other work in this process run
      }
      writer.finish();
      await readBack(folder, written);
      trajectories = written.map(({ folded }) => folded);
    },
    () => ({ trajectories }),
  );
  return tree.value;
}

interface Written {
  folded: FoldedEntry;
  digest: string;
}

async function readBack(folder: string, written: readonly Written[]): Promise<void> {
  const file = await openRows(folder);
  for (let part = 0; part < file.parts; part++) {
    const rows = await file.read(part);
    for (const { folded, digest } of written) {
      const { place } = folded;
      if (place.part !== part) continue;
      const found = digestOf(rebuilt(rows.slice(place.from, place.from + place.rows)));
      if (found === digest) continue;
      const { stage, task, sample } = folded;
      throw new Error(`${stage}/${task}/${sample} does not come back from its step's file as it was.`);
    }
    await nextTurn();
  }
}

function digestOf(records: StoredRecords): string {
  return hash("sha256", JSON.stringify(records));
}

function foldedTrajectory({ name, ending }: Member, place: RowsPlace): FoldedEntry {
  const { stage, task, sample } = name;
  return { stage, task, sample, ...finishedTrajectory(ending), place };
}
