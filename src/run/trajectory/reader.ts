import { setImmediate as nextTurn } from "node:timers/promises";
import { collected } from "../../base/async/collected.ts";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { FinishedTrajectory, FoldedEntry } from "../../contracts/folded-step.ts";
import { finishedTrajectory } from "../projections/finished-trajectory.ts";
import { rebuilt } from "../projections/parquet-records.ts";
import { type Key, nameOf } from "../store/key.ts";
import { foldedKey, type TrajectoryName, trajectoryPrefix } from "../store/keys.ts";
import type { Store } from "../store/store.ts";
import { foldedPrefix } from "./folded/folded-path.ts";
import { openRows } from "./folded/parquet-file.ts";
import { recordsByKey, type StoredJson } from "./folded/records-by-key.ts";
import { type StepFile, stepFiles } from "./folded/step-files.ts";
import { listedTrajectories, type Only } from "./listed-trajectories.ts";
import { recentlyUsed } from "./recently-used.ts";
import { byStage, type Stage, withOthers } from "./stages.ts";
import { readTrajectoryRecord } from "./trajectory-files.ts";

/**
 * Reads a run's records of trajectories in either form: single records, or rows in their step's file. The same key
 * gives the same value from both.
 */
export interface RecordReader extends Pick<Store, "read"> {
  /**
   * The trajectories, in progress or finished, of one stage or task if given. It yields one stage at a time, in
   * order, so it works for runs of any size. It misses trajectories that a listing does not contain yet.
   */
  stages(only?: Only): AsyncGenerator<Stage<TrajectoryName>>;
  /** All of them at once. */
  list(only?: Only): Promise<TrajectoryName[]>;
  /**
   * The trajectories of a stage in its own step's file and in single records. It costs the same at step 1,000 as at
   * step 10, but misses those that an asynchronous run trained on in a later step, once that is folded.
   */
  near(stage: string): Promise<TrajectoryName[]>;
  /**
   * The facts about a finished trajectory that lists and checks need, without its turns if it is in a file;
   * undefined while it is in progress.
   */
  finished(name: TrajectoryName): Promise<FinishedTrajectory | undefined>;
  /** The trajectories of a stage in step files, with the facts that lists and checks need. */
  folded(stage: string): Promise<readonly FoldedEntry[]>;
  /** The stages with trajectories in files, as of the last look. */
  foldedStages(): Promise<string[]>;
  /** The step whose file contains a trajectory, by the prefix of its records' paths; undefined if none does. */
  foldedIn(prefix: string): Promise<number | undefined>;
}

/** Parts of files that stay decoded: some thousand rows each. */
const keptParts = 3;

/**
 * A reader of a run's trajectories. It checks whether the step of a trajectory is folded on first use, and looks for
 * other steps' files only if something is missing.
 */
export function trajectoryReader({
  store,
}: {
  store: Pick<Store, "read" | "has" | "list" | "readTree" | "inFolder">;
}): RecordReader {
  const files = stepFiles(store);
  let first: Promise<void> | undefined;
  const parts = recentlyUsed<string, ReadonlyMap<string, StoredJson>>(keptParts);
  /** Whether the own steps of stages were folded when that was checked first. */
  const near = new Map<string, boolean>();

  /** Makes sure that the folded steps have been checked at least once. */
  async function looked(): Promise<void> {
    first ??= files.look();
    await first.catch((error) => {
      first = undefined;
      throw error;
    });
  }

  /**
   * The file with a trajectory, if it is in one. Its own step's file comes first, because it is the only one unless
   * the run is asynchronous.
   */
  async function find(prefix: string): ReturnType<typeof files.find> {
    const stage = stageIn(prefix);
    const isOwnFolded = near.get(stage) ?? (await files.lookAtOwn(stage));
    near.set(stage, isOwnFolded);
    const found = await files.find(prefix);
    if (found !== undefined || !isOwnFolded) return found;
    await looked();
    return files.find(prefix);
  }

  async function readFolded(prefix: string, path: string): Promise<{ value: StoredJson } | undefined> {
    const found = await find(prefix);
    if (found === undefined) return undefined;
    const { part } = found.folded.place;
    const records = await parts.get(`${found.file.step}/${part}`, () => readPart(found.file, part));
    return records === undefined ? undefined : { value: records.get(path) };
  }

  async function readPart({ step, tree }: StepFile, part: number) {
    const key = foldedKey(step);
    const contents = await store.inFolder(key, tree, "", async (folder) => {
      try {
        return await (await openRows(folder)).read(part);
      } catch (error) {
        const reason = String(error);
        throw new EverturnError("RECORD_CORRUPT", { file: key.tree, reason }, { cause: error });
      }
    });
    if (contents === undefined) return undefined;
    const inPart = tree.value.trajectories.filter(({ place }) => place.part === part);
    return new Map(
      inPart.flatMap((entry) => {
        const { from, rows } = entry.place;
        return [...recordsByKey(entry, rebuilt(contents.result.slice(from, from + rows)))];
      }),
    );
  }

  async function read<Value>(key: Key<Value>): Promise<Value | undefined> {
    const prefix = foldedPrefix(key.path);
    if (prefix === undefined) return store.read(key);
    const known = await readFolded(prefix, key.path);
    if (known !== undefined) return known.value;
    const single = await store.read(key);
    if (single !== undefined) return single;
    await files.lookFor(stageIn(prefix));
    return (await readFolded(prefix, key.path))?.value;
  }

  async function* stages({ stage: wanted, task }: Only = {}): AsyncGenerator<Stage<TrajectoryName>> {
    await looked();
    const told = new Set<string>();
    const inFiles = () => files.stages().filter((stage) => (wanted ?? stage) === stage);
    const single = byStage(listedTrajectories(store, { stage: wanted, task }));
    for await (const stage of withOthers(single, inFiles())) {
      told.add(stage.stage);
      yield* withFolded(stage, task);
    }
    await files.look(); // after the list, because a file contains what the list lacks by now
    for (const stage of inFiles()) if (!told.has(stage)) yield* withFolded({ stage, items: [] }, task);
  }

  async function* withFolded({ stage, items }: Stage<TrajectoryName>, task?: string) {
    await files.lookFor(stage);
    const names = await together(stage, items, task);
    await nextTurn(); // lets other work in this process run
    if (names.length > 0) yield { stage, items: names };
  }

  /** Single trajectories and those in known files, in order. */
  async function together(stage: string, single: readonly TrajectoryName[], task?: string) {
    const names = new Map(single.map((name) => [trajectoryPrefix(name).prefix, name]));
    for (const name of await folded(stage)) {
      if ((task ?? name.task) === name.task) names.set(trajectoryPrefix(name).prefix, plain(name));
    }
    return [...names.values()].sort(inOrder);
  }

  async function folded(stage: string): Promise<FoldedEntry[]> {
    const all = (await files.of(stage)).flatMap(({ tree }) => tree.value.trajectories);
    return all.filter((one) => one.stage === stage);
  }

  return {
    read,
    stages,
    list: async (only) => (await collected(stages(only))).flatMap(({ items }) => items),
    near: async (stage) => {
      const single = await collected(listedTrajectories(store, { stage }));
      await files.lookAtOwn(stage); // after the list, because a file contains what the list lacks by now
      return together(stage, single);
    },
    folded: async (stage) => {
      await looked();
      await files.lookFor(stage);
      return folded(stage);
    },
    foldedStages: async () => {
      await looked();
      return files.stages();
    },
    finished: async (name) => {
      const found = await find(trajectoryPrefix(name).prefix);
      if (found !== undefined) return found.folded;
      const record = await readTrajectoryRecord({ read }, name);
      return record === undefined ? undefined : finishedTrajectory(record);
    },
    foldedIn: async (prefix) => (await find(prefix))?.file.step,
  };
}

/** The stage in the prefix of a trajectory's keys; "" if it was cut, which never happens to a step's. */
function stageIn(prefix: string): string {
  return nameOf(prefix.split("/")[1] ?? "") ?? "";
}

function plain({ stage, task, sample }: TrajectoryName): TrajectoryName {
  return { stage, task, sample };
}

function inOrder(one: TrajectoryName, other: TrajectoryName): number {
  if (one.task !== other.task) return one.task < other.task ? -1 : 1;
  return one.sample - other.sample;
}
