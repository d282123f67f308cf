import type { Reservation } from "../contracts/ledger.ts";
import type { CarriedGroup, CarriedRollout } from "../contracts/rollout.ts";
import { readStepReservations } from "../ledger/reservations.ts";
import { readTrainedSteps } from "../ledger/trained-steps.ts";
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
  const groups = numberedGroups(run.id, await readStepReservations(run.store, run.plan, 1));
  const steps = await readTrainedSteps(run);
  const used = new Set<string>();
  for (const [number, { trajectories = [], leftOut = [] }] of steps) {
    for (const { trajectory } of leftOut) used.add(trajectory);
    if (number < nextStep) for (const { trajectory } of trajectories) used.add(trajectory);
  }
  const open = groups.filter(({ members }) => !members.every((member) => used.has(member)));
  const next = steps.get(nextStep)?.trajectories?.map(({ trajectory }) => trajectory);
  const committed = new Set(next);
  return {
    nextGroup: groups.reduce((last, { number }) => Math.max(last, number), 0) + 1,
    open: await Promise.all(open.map((group) => openGroup(run, group, policyVersion))),
    leftOut: [],
    ...(next === undefined
      ? {}
      : { committed: open.filter(({ members }) => isAny(members, committed)).map(({ number }) => number) }),
  };
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
