import type { BatchMember, LeftOut, TrainedStep } from "../../contracts/ledger.ts";
import { stepOf } from "../../contracts/stages.ts";
import type { ServerStep } from "../../contracts/trainer.ts";
import { recordedStepKey, trainedStepKey } from "../../run/store/keys.ts";
import type { Store } from "../../run/store/store.ts";
import { treeRecordKey } from "../../run/store/tree-paths.ts";
import { recentlyUsed } from "../../run/trajectory/recently-used.ts";
import { trajectoryOf } from "../../run/trajectory/trajectory-of.ts";
import { readLate } from "./late-trajectories.ts";

/**
 * The record of a step's commit, whether or not its version's files are intact; undefined if it was not committed,
 * or its record is unreadable.
 */
export async function readTrainedStep(
  { store }: { store: Pick<Store, "treeRecord"> },
  step: number,
): Promise<TrainedStep | undefined> {
  return (await store.treeRecord(trainedStepKey(step)))?.value;
}

interface Run {
  store: Pick<Store, "read" | "has" | "treeRecord">;
}

/**
 * The trained steps in order, each with the trajectories that were left out of it later. Damage to their versions'
 * files does not matter. Steps with unreadable records are skipped.
 */
export async function* trainedSteps(run: Run): AsyncGenerator<[step: number, record: TrainedStep]> {
  for (let step = 1; ; step++) {
    const record = await withLate(run, step);
    if (record !== undefined) yield [step, record];
    else if (!(await wasTrained(run, step))) return;
  }
}

/** Whether a step was committed. Even if its record is unreadable or lost, the step may still be recorded. */
async function wasTrained({ store }: Run, step: number): Promise<boolean> {
  return (await store.has(treeRecordKey(trainedStepKey(step)))) || store.has(recordedStepKey(step));
}

async function withLate(run: Run, step: number): Promise<TrainedStep | undefined> {
  const record = await readTrainedStep(run, step);
  if (record === undefined) return undefined;
  const late = await readLate(run.store, step);
  return late.length === 0 ? record : { ...record, leftOut: [...record.leftOut, ...late] };
}

/** How many trajectories a step trained on and left out, and the version that it made. */
export interface TrainedCounts {
  policyVersion: number;
  trajectories: number;
  leftOut: number;
  /** Set if a training server trained it. */
  server?: ServerStep;
}

/** How a step used trajectories of one stage. */
export interface StageUse {
  trajectories: BatchMember[];
  leftOut: LeftOut[];
}

/** How the steps used trajectories. */
export interface Uses {
  /** By step. */
  counts: ReadonlyMap<number, TrainedCounts>;
  /** The stages that they named. */
  stages: ReadonlySet<string>;
  /** How they used those of a stage, by step. */
  of(stage: string): Promise<ReadonlyMap<number, StageUse>>;
}

/**
 * Reads once how all steps used trajectories. For a given stage it reads again the steps that may train on it: its
 * own and as many later ones as the staleness allows. It keeps the uses in other steps, because there should be
 * none.
 */
export async function readUses(run: Run, staleness: number): Promise<Uses> {
  const counts = new Map<number, TrainedCounts>();
  const stages = new Set<string>();
  const strays = new Map<string, Map<number, StageUse>>();
  for await (const [step, record] of trainedSteps(run)) {
    const { policyVersion, trajectories, leftOut, server } = record;
    const numbers = { policyVersion, trajectories: trajectories.length, leftOut: leftOut.length };
    counts.set(step, server === undefined ? numbers : { ...numbers, server });
    for (const stage of stagesOf(record)) {
      stages.add(stage);
      if (ownSteps(stage, staleness).includes(step)) continue;
      const known = strays.get(stage) ?? new Map<number, StageUse>();
      strays.set(stage, known.set(step, useOf(record, stage)));
    }
  }
  const recent = recentlyUsed<number, TrainedStep>(staleness + 2);
  return {
    counts,
    stages,
    of: async (stage) => {
      const uses = new Map(strays.get(stage));
      for (const step of ownSteps(stage, staleness)) {
        if (!counts.has(step)) continue; // trained meanwhile
        const record = await recent.get(step, () => withLate(run, step));
        if (record !== undefined) uses.set(step, useOf(record, stage));
      }
      return new Map([...uses].sort(([one], [other]) => one - other));
    },
  };
}

/** The steps that may train on trajectories of a stage. */
export function ownSteps(stage: string, staleness: number): number[] {
  const own = stepOf(stage);
  return own === undefined ? [] : Array.from({ length: staleness + 1 }, (_, behind) => own + behind);
}

function stagesOf({ trajectories, leftOut }: TrainedStep): Set<string> {
  return new Set([...trajectories, ...leftOut].map(({ trajectory }) => trajectoryOf(trajectory).stage));
}

function useOf({ trajectories, leftOut }: TrainedStep, stage: string): StageUse {
  const isOwn = ({ trajectory }: { trajectory: string }) => trajectoryOf(trajectory).stage === stage;
  return { trajectories: trajectories.filter(isOwn), leftOut: leftOut.filter(isOwn) };
}
