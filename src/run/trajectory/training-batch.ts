import { isEverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import type { BatchMember, LeftOut } from "../../contracts/ledger.ts";
import type { TrainingTrajectory } from "../../contracts/trainer.ts";
import type { Outcome } from "../../contracts/trajectory.ts";
import { trainingTrajectory } from "../projections/training-trajectory.ts";
import { trajectoryKey } from "../store/keys.ts";
import type { Store } from "../store/store.ts";
import { readRows } from "./segments.ts";
import { trajectoryOf } from "./trajectory-of.ts";

/** The data that a step trains on. */
export interface TrainingBatch {
  members: BatchMember[];
  trajectories: TrainingTrajectory[];
  /** Members that are no longer readable, and members of groups that are too small without them. */
  unreadable: LeftOut[];
}

const limits: ReadonlySet<Outcome> = new Set(["turn-limit", "token-limit", "time-limit"]);

/** A member's trajectory, or why it can't be read. */
type Read = { member: BatchMember } & ({ trajectory: TrainingTrajectory } | { reason: string });

/**
 * Reads a step's training data from the records of its trajectories, for the policy at `temperature`. Unreadable
 * ones are left out with the reason, so that a broken record does not fail its step forever. A group with fewer than
 * `minGroup` remaining members is left out too, unless no other group remains.
 */
export async function readBatch(
  store: Pick<Store, "read">,
  batch: readonly BatchMember[],
  { temperature, minGroup }: { temperature: number; minGroup: number },
): Promise<TrainingBatch> {
  const all = await Promise.all(batch.map((member) => read(store, member, temperature)));
  const broken = new Set(all.flatMap((one) => ("reason" in one ? [one.member.group] : [])));
  const left = (group: string) =>
    all.filter((one) => one.member.group === group && !("reason" in one)).length;
  const small = new Set([...broken].filter((group) => left(group) < minGroup));
  const isAnyKept = all.some((one) => !("reason" in one) && !small.has(one.member.group));
  const found: TrainingBatch = { members: [], trajectories: [], unreadable: [] };
  for (const one of all) {
    const { trajectory, group } = one.member;
    if ("reason" in one) {
      found.unreadable.push({ trajectory, reason: one.reason });
    } else if (isAnyKept && small.has(group)) {
      found.unreadable.push({ trajectory, reason: "too many trajectories of its group can't be read" });
    } else {
      found.members.push(one.member);
      found.trajectories.push(one.trajectory);
    }
  }
  return found;
}

async function read(store: Pick<Store, "read">, member: BatchMember, temperature: number): Promise<Read> {
  const { trajectory: id, head, reward, group } = member;
  const place = trajectoryOf(id);
  const record = await store.read(trajectoryKey(place));
  if (record === undefined) return { member, reason: "its record can't be read" };
  const { turnRewards, outcome } = record;
  const identity = defined<Parameters<typeof trainingTrajectory>[0]>({
    id,
    reward,
    group,
    turnRewards,
    truncated: limits.has(outcome) ? true : undefined,
  });
  try {
    const rows = await readRows(store, place, head);
    return { member, trajectory: trainingTrajectory(identity, rows, temperature) };
  } catch (error) {
    if (!isEverturnError(error) || error.code !== "SEGMENT_MISSING") throw error;
    return { member, reason: "its turns can't be read" };
  }
}
