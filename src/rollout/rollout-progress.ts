import type { Reservation } from "../contracts/ledger.ts";
import type { CarriedGroup, CarriedRollout } from "../contracts/rollout.ts";
import { readStepReservations } from "../ledger/reservations.ts";
import { readTrainedStep } from "../ledger/trained-steps.ts";
import type { OpenRun } from "../runs/open-runs.ts";
import { turnKey } from "../store/keys.ts";

/**
 * How far an asynchronous run's rollouts have come on disk, when its training workflow was lost: the groups that were
 * admitted and that no recorded step trained on or left out. They are rolled out again, with what their journals hold.
 * If the next step was committed and not recorded, it names the groups that the step was committed with.
 */
export async function rolloutProgress(
  run: OpenRun,
  { nextStep, policyVersion }: { nextStep: number; policyVersion: number },
): Promise<CarriedRollout> {
  const { used, openFrom } = await usedBefore(run, nextStep);
  const next = await readTrainedStep(run, nextStep);
  for (const { trajectory } of next?.leftOut ?? []) used.add(trajectory);
  const { batchSize, groupSize } = run.plan.rollout;
  const from = Math.ceil((openFrom * groupSize) / batchSize);
  const reserved = numberedGroups(run.id, await readStepReservations(run.store, run.plan, from));
  const groups = reserved.filter(({ number }) => number >= openFrom);
  const open = groups.filter(({ members }) => !members.every((member) => used.has(member)));
  const committed = new Set(next?.trajectories?.map(({ trajectory }) => trajectory));
  return {
    nextGroup: groups.reduce((last, { number }) => Math.max(last, number + 1), openFrom),
    open: await Promise.all(open.map((group) => openGroup(run, group, policyVersion))),
    leftOut: [],
    ...(next === undefined
      ? {}
      : { committed: open.filter(({ members }) => isAny(members, committed)).map(({ number }) => number) }),
  };
}

/**
 * The lowest number of a group that no recorded step trained on or left out, and the trajectories after it that one did.
 * Read backwards from the newest step, no further than the one after which that group was admitted.
 */
async function usedBefore(run: OpenRun, nextStep: number): Promise<{ used: Set<string>; openFrom: number }> {
  const used = new Set<string>();
  let openFrom: number | undefined;
  for (let step = nextStep - 1; step > 0; step--) {
    const { trajectories = [], leftOut = [], cursor } = (await readTrainedStep(run, step)) ?? {};
    for (const { trajectory } of [...trajectories, ...leftOut]) used.add(trajectory);
    openFrom ??= cursor?.openFrom;
    if (cursor !== undefined && openFrom !== undefined && cursor.next <= openFrom) break;
  }
  return { used, openFrom: openFrom ?? 1 };
}

interface NumberedGroup {
  number: number;
  stage: string;
  task: string;
  samples: number[];
  members: string[];
}

/** Each group once, in order: a group that was started again was reserved again. */
function numberedGroups(run: string, reservations: Reservation[]): NumberedGroup[] {
  const groups = new Map<number, NumberedGroup>();
  for (const { stage, groups: reserved } of reservations) {
    for (const { number, task, samples } of reserved) {
      if (number === undefined) continue;
      const members = samples.map((sample) => `${run}/${stage}/${task}/${sample}`);
      groups.set(number, { number, stage, task, samples, members });
    }
  }
  return [...groups.values()].sort((a, b) => a.number - b.number);
}

function isAny(members: string[], names: ReadonlySet<string>): boolean {
  return members.some((member) => names.has(member));
}

/** It began with the oldest version that generated a first turn of it, or begins now. */
async function openGroup(run: OpenRun, group: NumberedGroup, policyVersion: number): Promise<CarriedGroup> {
  const { number, stage, task, samples } = group;
  const first = samples.map((sample) => run.store.read(turnKey({ stage, task, sample }, 1)));
  const versions = (await Promise.all(first)).flatMap((turn) => turn?.action.policyVersion ?? []);
  return {
    ...{ number, step: Number(stage.slice("step-".length)), stage, task, samples },
    ...{ policyVersion: Math.min(policyVersion, ...versions), isStarted: false, ended: [] },
  };
}
