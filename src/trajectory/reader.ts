import type { FinishedTrajectory, FoldedStep } from "../contracts/folded-step.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import type { RunFolder } from "../runs/run-folder.ts";
import type { Key } from "../store/key.ts";
import { foldedKey, recordedStepKey, type TrajectoryName, trajectoryPrefix } from "../store/keys.ts";
import { lengthOfRow } from "../store/row.ts";
import type { Store } from "../store/store.ts";
import type { Tree } from "../store/tree.ts";
import { finishedTrajectory } from "./finished-trajectory.ts";
import { foldedPrefix } from "./folded/folded-path.ts";
import { openRows } from "./folded/parquet-file.ts";
import { rebuilt } from "./folded/rebuilt.ts";
import { recordsByKey, type StoredJson } from "./folded/records-by-key.ts";
import { recentlyUsed } from "./recently-used.ts";
import { listTrajectories, readTrajectoryRecord } from "./trajectory-files.ts";

/**
 * Reads what a run has of trajectories, whichever form it has: records one by one, or rows in the file of their step. The
 * same key gives the same value from either.
 */
export interface TrajectoryReader extends Pick<Store, "read"> {
  /** The trajectories, under way or finished, of one stage or task if named; in order. */
  list(only?: Only): Promise<TrajectoryName[]>;
  /** What lists and checks need of a finished trajectory, without its turns if it is in a file; undefined if it is under way. */
  finished(name: TrajectoryName): Promise<FinishedTrajectory | undefined>;
  /** The step in whose file a trajectory is, by the prefix of its records' paths; undefined if it is in none. */
  foldedIn(prefix: string): Promise<number | undefined>;
}

interface Only {
  stage?: string | undefined;
  task?: string | undefined;
}

/** Parts of files that are kept rebuilt: some thousand rows each. */
const keptParts = 3;
const keptSteps = 8;
/** Steps whose records are asked for at once. */
const lanes = 32;

/** A trajectory in a step's file: the so-many-th of its record, from 0. */
interface Folded {
  name: TrajectoryName;
  step: number;
  position: number;
}

/** A reader of a run. It asks which steps are folded when it is first needed, and again where something is not found. */
export function trajectoryReader({
  folder,
  store,
}: {
  folder: Pick<RunFolder, "root">;
  store: Pick<Store, "read" | "has" | "readTree" | "inFolder">;
}): TrajectoryReader {
  /** By prefix of their keys. */
  const index = new Map<string, Folded>();
  const known = new Set<number>();
  let looking: Promise<void> | undefined;
  let hasLooked = false;
  const trees = recentlyUsed<number, Tree<FoldedStep>>(keptSteps);
  const parts = recentlyUsed<string, ReadonlyMap<string, StoredJson>>(keptParts);

  /** Looks at the steps that were not folded when it last looked. */
  function look(): Promise<void> {
    looking ??= lookNow().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  async function lookNow(): Promise<void> {
    const newest = await lengthOfRow(store, recordedStepKey);
    const steps = Array.from({ length: newest }, (_, position) => position + 1).filter(
      (step) => !known.has(step),
    );
    for (let from = 0; from < steps.length; from += lanes) {
      await Promise.all(steps.slice(from, from + lanes).map(add));
    }
    hasLooked = true;
  }

  async function add(step: number): Promise<void> {
    const tree = await treeOf(step);
    if (tree === undefined) return;
    known.add(step);
    for (const [position, { stage, task, sample }] of tree.value.trajectories.entries()) {
      const name = { stage, task, sample };
      index.set(trajectoryPrefix(name).prefix, { name, step, position });
    }
  }

  async function treeOf(step: number): Promise<Tree<FoldedStep> | undefined> {
    return trees.get(step, () => store.readTree(foldedKey(step)));
  }

  /** Where the trajectory is whose prefix this is, as far as is known. */
  async function placeOf(prefix: string) {
    const found = index.get(prefix);
    if (found === undefined) return undefined;
    const tree = await treeOf(found.step);
    const folded = tree?.value.trajectories[found.position];
    return tree === undefined || folded === undefined ? undefined : { step: found.step, tree, folded };
  }

  async function readFolded(prefix: string, path: string): Promise<{ value: StoredJson } | undefined> {
    const place = await placeOf(prefix);
    if (place === undefined) return undefined;
    const { step, tree, folded } = place;
    const records = await parts.get(`${step}/${folded.place.part}`, () =>
      readPart(step, tree, folded.place.part),
    );
    return records === undefined ? undefined : { value: records.get(path) };
  }

  async function readPart(step: number, tree: Tree<FoldedStep>, part: number) {
    const key = foldedKey(step);
    const read = await store.inFolder(key, tree, "", async (folder) => {
      try {
        return await (await openRows(folder)).read(part);
      } catch (error) {
        throw new EverturnError("RECORD_CORRUPT", { file: key.tree, reason: String(error) });
      }
    });
    if (read === undefined) return undefined;
    const inPart = tree.value.trajectories.filter(({ place }) => place.part === part);
    return new Map(
      inPart.flatMap((folded) => {
        const { from, rows } = folded.place;
        return [...recordsByKey(folded, rebuilt(read.result.slice(from, from + rows)))];
      }),
    );
  }

  async function read<Value>(key: Key<Value>): Promise<Value | undefined> {
    const prefix = foldedPrefix(key.path);
    if (prefix === undefined) return store.read(key);
    if (!hasLooked) await look();
    const folded = await readFolded(prefix, key.path);
    if (folded !== undefined) return folded.value;
    const single = await store.read(key);
    if (single !== undefined) return single;
    await look();
    return (await readFolded(prefix, key.path))?.value;
  }

  return {
    read,
    list: async (only = {}) => {
      const { stage, task } = only;
      const all = new Map(
        (await listTrajectories(folder, only)).map((name) => [trajectoryPrefix(name).prefix, name]),
      );
      await look(); // after the list: what it lacks is in a file by now
      for (const [prefix, { name }] of index) {
        const isAsked = (stage ?? name.stage) === name.stage && (task ?? name.task) === name.task;
        if (isAsked) all.set(prefix, name);
      }
      return [...all.values()].sort(inOrder);
    },
    finished: async (name) => {
      if (!hasLooked) await look();
      const folded = await placeOf(trajectoryPrefix(name).prefix);
      if (folded !== undefined) return folded.folded;
      const record = await readTrajectoryRecord({ read }, name);
      return record === undefined ? undefined : finishedTrajectory(record);
    },
    foldedIn: async (prefix) => {
      if (!hasLooked) await look();
      return index.get(prefix)?.step;
    },
  };
}

function inOrder(one: TrajectoryName, other: TrajectoryName): number {
  if (one.stage !== other.stage) return one.stage < other.stage ? -1 : 1;
  if (one.task !== other.task) return one.task < other.task ? -1 : 1;
  return one.sample - other.sample;
}
