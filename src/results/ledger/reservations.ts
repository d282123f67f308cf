import { dirname } from "node:path/posix";
import type { Reservation, ReservedGroup } from "../../contracts/ledger.ts";
import type { Plan } from "../../contracts/plan.ts";
import { stepStage } from "../../contracts/stages.ts";
import { trajectoryId } from "../../contracts/trajectory-id.ts";
import { reservationRow, reservationsPrefix } from "../../run/store/keys.ts";
import { listed } from "../../run/store/listed.ts";
import { appendToRow, readRow } from "../../run/store/row.ts";
import type { Store } from "../../run/store/store.ts";
import { largestStaleness } from "./largest-staleness.ts";

/**
 * Reserves places for trajectories before they start. Reservations repeated by a retried or late attempt count once.
 * The cost does not depend on how many the stage has. Throws DISK_FULL and STORE_NOT_WRITABLE.
 */
export async function reserve(
  store: Pick<Store, "has" | "record">,
  { stage, round = 1, groups }: Reservation,
): Promise<void> {
  await appendToRow(store, reservationRow(stage), { stage, round, groups });
}

/** All reservations of a stage, each group once, in the order in which they were made. */
export async function readReservations(
  store: Pick<Store, "read" | "has">,
  stage: string,
): Promise<Reservation[]> {
  const known = new Set<string>();
  const isNew = (group: ReservedGroup, round: number | undefined) => {
    const before = known.size;
    return known.add(nameOf(group, round)).size > before;
  };
  const reservations = await readRow(store, reservationRow(stage));
  return reservations
    .map((one) => ({ ...one, groups: one.groups.filter((group) => isNew(group, one.round)) }))
    .filter(({ groups }) => groups.length > 0);
}

function nameOf({ task, samples }: ReservedGroup, round = 1): string {
  return JSON.stringify([round, task, samples]);
}

/**
 * All reservations of the steps from `from` on. Groups are admitted in the order of the steps, and the groups in
 * progress never span more steps than the allowed staleness plus one. After that many steps without reservations
 * there are no more.
 */
export async function readStepReservations(
  store: Pick<Store, "read" | "has">,
  plan: Pick<Plan, "rollout" | "changes">,
  from: number,
): Promise<Reservation[]> {
  const reservations: Reservation[] = [];
  const longestGap = largestStaleness(plan) + 1;
  for (let step = from, gap = 0; gap <= longestGap; step++) {
    const own = await readReservations(store, stepStage(step));
    gap = own.length === 0 ? gap + 1 : 0;
    reservations.push(...own);
  }
  return reservations;
}

/** The stages with reservations according to a listing, for people, who can look again. */
export async function reservedStages(store: Pick<Store, "read" | "list">): Promise<string[]> {
  const stages = new Map<string, string>();
  for await (const path of listed(store, reservationsPrefix())) {
    if (stages.has(dirname(path))) continue;
    const first = await store.read<Reservation>({ path });
    if (first !== undefined) stages.set(dirname(path), first.stage);
  }
  return [...stages.values()];
}

/** The ids that reservations refer to. */
export function reservedTrajectories(run: string, reservations: readonly Reservation[]): string[] {
  return reservations.flatMap(({ stage, groups }) =>
    groups.flatMap(({ task, samples }) =>
      samples.map((sample) => trajectoryId({ run, stage, task, sample })),
    ),
  );
}
