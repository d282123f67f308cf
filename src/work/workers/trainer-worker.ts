import { join } from "node:path";
import { sharedPromises } from "../../base/async/shared-promises.ts";
// biome-ignore lint/style/noRestrictedImports: the folder in which a tree is written
import { makeFolder } from "../../base/files/make-folder.ts";
import { persistently } from "../../base/files/persistently.ts";
import { readPatiently } from "../../base/files/read-patiently.ts";
import { defined } from "../../base/records/defined.ts";
import type { Trainer, TrainerFolders } from "../../contracts/trainer.ts";
import {
  type FramedChats,
  type FramedExamples,
  framedChats,
  framedExamples,
} from "../../plan/demonstrations/framed-examples.ts";
import { readDemonstrations } from "../../plan/pipeline/read/demonstrations.ts";
import { checkExampleFile } from "../../plan/pipeline/read/example-files.ts";
import { rowToolsFor } from "../../plan/pipeline/resolve/demonstrated-tools.ts";
import { loadTrainer } from "../../plugin/registry/registry.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { readStoredImage } from "../../run/store/stored-image.ts";
import { inPart, type KeptPart, keepPart, type TreePart } from "../../run/store/tree-part.ts";
import { firstVersion } from "../../run/versions/first-version.ts";
import { policyPart, trainerPart } from "../../run/versions/version-parts.ts";

/**
 * The parts from which a trainer starts, in addition to version 0. Without `state`, the optimizer and the
 * value head start from scratch.
 */
export interface TrainerStart {
  policy: TreePart;
  state?: TreePart;
  /** The policy that the KL term refers to. */
  reference?: TreePart;
}

/**
 * Returns the start of a step from `version`. The first step starts the optimizer and the value head from
 * scratch. The reference is the policy that the first step starts from.
 */
export function trainerStart(plan: OpenRun["plan"], version: number): TrainerStart {
  const reference = firstVersion(plan);
  const start = { policy: policyPart(plan, version), reference: policyPart(plan, reference) };
  return version === reference ? start : { ...start, state: trainerPart(plan, version) };
}

/**
 * What the activities of the queue `trainer` share in a worker: open runs, their trainers, demonstrations.
 */
export interface TrainerWorker {
  openRun(run: string): Promise<OpenRun>;
  /**
   * Does `work` with a trainer at the position `from`: the one in memory if it is there, otherwise one opened
   * from `start`. Afterwards the trainer is at `to`. If `work` throws, the trainer is dropped.
   */
  train<T>(options: {
    run: string;
    from: string;
    to: string;
    start: TrainerStart;
    work: (trainer: Trainer) => Promise<T>;
  }): Promise<T>;
  /** The demonstrations for a run's warm start. */
  demonstrations(run: string): Promise<FramedChats>;
  /** The examples that a run's steps train on instead of trajectories. */
  examples(run: string): Promise<FramedExamples>;
  close(): Promise<void>;
}

/** A trainer in memory, its position, and the parts it may read. */
interface HeldTrainer {
  position: string;
  trainer: Trainer;
  kept: KeptPart[];
}

/** Writes a trainer's policy and state into the parts of a tree. */
export function saved(trainer: Trainer): (folder: string) => Promise<void> {
  return async (folder) => {
    const policy = join(folder, "policy");
    const state = join(folder, "trainer");
    for (const part of [policy, state]) await persistently(() => makeFolder(part));
    await trainer.save(policy, state);
  };
}

/** Creates a trainer worker for the runs that `openRun` opens. */
export function trainerWorker(openRun: (run: string) => Promise<OpenRun>): TrainerWorker {
  const demonstrations = sharedPromises<FramedChats>();
  const examples = sharedPromises<FramedExamples>();
  const trainers = new Map<string, HeldTrainer>();

  async function drop(run: string): Promise<void> {
    const held = trainers.get(run);
    trainers.delete(run);
    await held?.trainer.close();
    for (const { release } of held?.kept ?? []) release();
  }

  /**
   * Opens a trainer. Version 0 and the reference stay in their folders while it works, because it may read
   * them at any time.
   */
  async function open(run: string, start: TrainerStart): Promise<Omit<HeldTrainer, "position">> {
    const { plan, folder, store } = await openRun(run);
    const { config, loss } = plan.trainer;
    const plugin = await loadTrainer(plan.trainer);
    const kept: KeptPart[] = [];
    const keep = async (part: TreePart) => {
      const held = await keepPart(store, part);
      kept.push(held);
      return held.folder;
    };
    try {
      const folders = defined<Omit<TrainerFolders, "policy" | "state">>({
        initial: await keep(policyPart(plan, 0)),
        reference: start.reference && (await keep(start.reference)),
        failures: folder.failures,
        readImage: (sha256: string) => readStoredImage(store, sha256),
      });
      const openFrom = (rest: Pick<TrainerFolders, "policy" | "state">) =>
        readPatiently(folder.root, () => plugin.open({ ...folders, ...rest }, config, plan.seed, loss));
      const { state } = start;
      const trainer = await inPart(store, start.policy, (policy) =>
        state === undefined
          ? openFrom({ policy })
          : inPart(store, state, (stateFolder) => openFrom({ policy, state: stateFolder })),
      );
      return { trainer, kept };
    } catch (error) {
      for (const { release } of kept) release();
      throw error;
    }
  }

  return {
    openRun,
    train: async ({ run, from, to, start, work }) => {
      let held = trainers.get(run);
      if (held?.position !== from) {
        await drop(run);
        held = { position: from, ...(await open(run, start)) };
        trainers.set(run, held);
      }
      try {
        const result = await work(held.trainer);
        held.position = to;
        return result;
      } catch (error) {
        await drop(run);
        throw error;
      }
    },
    demonstrations: (run) =>
      demonstrations.get(run, async () => {
        const opened = await openRun(run);
        const file = opened.plan.warmStart?.demonstrations;
        checkExampleFile(opened.plan, file);
        const rows = file === undefined ? [] : await readDemonstrations(file, rowToolsFor(opened.plan));
        return framedChats(opened, rows);
      }),
    examples: (run) => examples.get(run, async () => framedExamples(await openRun(run))),
    close: async () => {
      for (const run of [...trainers.keys()]) await drop(run);
    },
  };
}
