import { setImmediate as nextTurn } from "node:timers/promises";
import type { FoldedEntry, FoldedStep } from "../../../contracts/folded-step.ts";
import { stepOf } from "../../../contracts/stages.ts";
import { objectsAtOnce } from "../../store/at-once.ts";
import { foldedKey, recordedStepKey, trajectoryPrefix } from "../../store/keys.ts";
import { lengthOfRow } from "../../store/row.ts";
import type { Store } from "../../store/store.ts";
import type { Tree } from "../../store/tree.ts";
import { trajectoriesPrefix } from "../listed-trajectories.ts";
import { recentlyUsed } from "../recently-used.ts";

/** The trajectories in a step's file, by the prefixes of their keys. */
export interface StepFile {
  step: number;
  tree: Tree<FoldedStep>;
  trajectories: ReadonlyMap<string, FoldedEntry>;
}

/** The records of a run's step files. Only a few are cached, however many exist. */
export interface StepFiles {
  /** Checks which steps have been folded since it last looked. */
  look(): Promise<void>;
  /**
   * The same for a stage's own step only. Returns whether it is folded: then most trajectories of the stage are in its
   * file. Otherwise none is in any file, because steps are folded in order.
   */
  lookAtOwn(stage: string): Promise<boolean>;
  /**
   * The same for the steps that may have trajectories of this stage: a trajectory that no longer has single records
   * is in one of their files.
   */
  lookFor(stage: string): Promise<void>;
  /** The known stages with trajectories in files. */
  stages(): string[];
  /** The known files with trajectories of a stage. */
  of(stage: string): Promise<StepFile[]>;
  /** The known place of the trajectory whose keys have this prefix, if it is in a file. */
  find(prefix: string): Promise<{ file: StepFile; folded: FoldedEntry } | undefined>;
}

const kept = 8;

/** The files of a run's steps. */
export function stepFiles(store: Pick<Store, "has" | "readTree">): StepFiles {
  /**
   * The steps whose files have trajectories of a stage, by the stage's prefix. Only this grows with the run, by its
   * steps.
   */
  const stepsOf = new Map<string, { stage: string; steps: number[] }>();
  const known = new Set<number>();
  const files = recentlyUsed<number, StepFile>(kept);
  let looking: Promise<void> | undefined;

  async function lookNow(): Promise<void> {
    const newest = await lengthOfRow(store, recordedStepKey);
    const steps = Array.from({ length: newest }, (_, position) => position + 1).filter(
      (step) => !known.has(step),
    );
    for (let from = 0; from < steps.length; from += objectsAtOnce) {
      await Promise.all(steps.slice(from, from + objectsAtOnce).map(add));
      await nextTurn(); // lets other work in this process run
    }
  }

  async function add(step: number): Promise<void> {
    if (known.has(step)) return;
    const file = await fileOf(step);
    if (file === undefined || known.has(step)) return;
    known.add(step);
    for (const stage of new Set(file.tree.value.trajectories.map((one) => one.stage))) {
      const { prefix } = trajectoriesPrefix({ stage });
      const steps = stepsOf.get(prefix)?.steps ?? [];
      stepsOf.set(prefix, { stage, steps: [...steps, step] });
    }
  }

  function fileOf(step: number): Promise<StepFile | undefined> {
    return files.get(step, async () => {
      const tree = await store.readTree(foldedKey(step));
      if (tree === undefined) return undefined;
      const byPrefix = tree.value.trajectories.map((one) => [trajectoryPrefix(one).prefix, one] as const);
      return { step, tree, trajectories: new Map(byPrefix) };
    });
  }

  async function below(stage: string): Promise<StepFile[]> {
    const found = await Promise.all((stepsOf.get(stage)?.steps ?? []).map(fileOf));
    return found.filter((file) => file !== undefined);
  }

  return {
    look: () => {
      looking ??= lookNow().finally(() => {
        looking = undefined;
      });
      return looking;
    },
    lookAtOwn: async (stage) => {
      const step = stepOf(stage);
      if (step === undefined) return false;
      await add(step);
      return known.has(step);
    },
    lookFor: async (stage) => {
      // Steps are folded in order, and a step never trains on trajectories of a later one.
      for (let step = stepOf(stage); step !== undefined; step++) {
        await add(step);
        if (!known.has(step)) return;
      }
    },
    stages: () => [...stepsOf.values()].map(({ stage }) => stage),
    of: (stage) => below(trajectoriesPrefix({ stage }).prefix),
    find: async (prefix) => {
      for (const file of await below(stagePrefix(prefix))) {
        const folded = file.trajectories.get(prefix);
        if (folded !== undefined) return { file, folded };
      }
      return undefined;
    },
  };
}

/** The prefix of the stage above a trajectory's keys. */
function stagePrefix(prefix: string): string {
  return prefix.slice(0, prefix.indexOf("/", "trajectories/".length) + 1);
}
