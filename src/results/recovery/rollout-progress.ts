import { defined } from "../../base/records/defined.ts";
import { groupPlaces } from "../../contracts/group-places.ts";
import type { Reservation } from "../../contracts/ledger.ts";
import type { CarriedGroup, CarriedRollout, GroupPlace } from "../../contracts/rollout.ts";
import { trajectoryId } from "../../contracts/trajectory-id.ts";
import { type RunTasks, taskId } from "../../plan/tasks/run-tasks.ts";
import { stepIndices } from "../../plan/tasks/step-indices.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { turnKey } from "../../run/store/keys.ts";
import { type Journal, runJournal } from "../../run/trajectory/run-journal.ts";
import { readStepReservations } from "../ledger/reservations.ts";
import { readTrainedStep } from "../ledger/trained-steps.ts";

/**
 * The progress of an asynchronous run's rollouts on disk after its training workflow was lost: the admitted groups
 * that no recorded step trained on or left out. They are rolled out again, starting from their journals. If the next
 * step was committed but not recorded, the result names the groups that it was committed with.
 */
export async function rolloutProgress(
  run: OpenRun,
  tasks: RunTasks,
  { nextStep, policyVersion }: { nextStep: number; policyVersion: number },
): Promise<CarriedRollout> {
  const { used, openFrom } = await usedBefore(run, nextStep);
  const next = await readTrainedStep(run, nextStep);
  for (const { trajectory } of next?.leftOut ?? []) used.add(trajectory);
  const admitted = await admittedGroups(run, tasks, openFrom);
  const groups = admitted.map((group) => ({ ...group, members: membersOf(run.id, group) }));
  const open = groups.filter(({ members }) => !members.every((member) => used.has(member)));
  const journal = runJournal(run); // a recorded step that is trained again may be in a file
  const committed = new Set(next?.trajectories.map(({ trajectory }) => trajectory));
  return defined({
    nextGroup: (groups.at(-1)?.number ?? openFrom - 1) + 1,
    open: await Promise.all(open.map((group) => openGroup(journal, group, policyVersion))),
    leftOut: [],
    committed:
      next === undefined
        ? undefined
        : open.filter(({ members }) => isAny(members, committed)).map(({ number }) => number),
  });
}

/**
 * The lowest number of a group that no recorded step trained on or left out, and the used trajectories after it. It
 * reads backward from the newest step, no further than the step after which that group was admitted.
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

interface NumberedGroup extends GroupPlace {
  number: number;
}

/**
 * The groups admitted from a group on, in order, up to the last reserved one. Shards reserve as they start, in any
 * order, so earlier groups may have no reservation. Those are drawn again in the same way.
 */
async function admittedGroups(run: OpenRun, tasks: RunTasks, openFrom: number): Promise<NumberedGroup[]> {
  const { batchSize, groupSize } = run.plan.rollout;
  const stepAt = (number: number) => Math.ceil((number * groupSize) / batchSize);
  const groups = reservedGroups(await readStepReservations(run.store, run.plan, stepAt(openFrom)));
  const last = Math.max(0, ...groups.keys());
  for (let number = openFrom; number < last; number++) {
    if (groups.has(number)) continue;
    for (const group of await drawnGroups(run, tasks, stepAt(number))) {
      if (!groups.has(group.number)) groups.set(group.number, group);
    }
  }
  return [...groups.values()]
    .filter(({ number }) => number >= openFrom && number <= last)
    .sort((a, b) => a.number - b.number);
}

/** Each group once by its number: a restarted group was reserved again. */
function reservedGroups(reservations: Reservation[]): Map<number, NumberedGroup> {
  const groups = new Map<number, NumberedGroup>();
  for (const { stage, groups: reserved } of reservations) {
    for (const { number, task, samples } of reserved) {
      if (number === undefined) continue;
      groups.set(number, { number, step: Number(stage.slice("step-".length)), stage, task, samples });
    }
  }
  return groups;
}

/** The groups that are drawn for a step, whenever they are admitted. */
async function drawnGroups({ plan }: OpenRun, tasks: RunTasks, step: number): Promise<NumberedGroup[]> {
  const { batchSize, groupSize } = plan.rollout;
  const training = await tasks.training(plan);
  const first = ((step - 1) * batchSize) / groupSize + 1;
  const places = groupPlaces(step, stepIndices(plan, training, step).map(taskId), groupSize);
  return places.map((place, index) => ({ ...place, number: first + index }));
}

function membersOf(run: string, { stage, task, samples }: GroupPlace): string[] {
  return samples.map((sample) => trajectoryId({ run, stage, task, sample }));
}

function isAny(members: string[], names: ReadonlySet<string>): boolean {
  return members.some((member) => names.has(member));
}

/** An open group. It began with the oldest version that generated one of its first turns, or begins now. */
async function openGroup(
  journal: Pick<Journal, "read">,
  group: NumberedGroup,
  policyVersion: number,
): Promise<CarriedGroup> {
  const { number, step, stage, task, samples } = group;
  const first = samples.map((sample) => journal.read(turnKey({ stage, task, sample }, 1)));
  const versions = (await Promise.all(first)).flatMap((turn) => turn?.action.policyVersion ?? []);
  return {
    number,
    step,
    stage,
    task,
    samples,
    policyVersion: Math.min(policyVersion, ...versions),
    isStarted: false,
    ended: [],
  };
}
