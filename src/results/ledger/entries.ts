import { defined } from "../../base/records/defined.ts";
import type { LedgerEntry } from "../../contracts/ledger.ts";
import type { StageFacts } from "./facts.ts";
import { reservedTrajectories } from "./reservations.ts";

/** The ids of all trajectories that were reserved, or that exist without a reservation, as forks do. */
export function knownTrajectories(run: string, { reservations, trajectories }: StageFacts): Set<string> {
  return new Set([...reservedTrajectories(run, reservations), ...trajectories.keys()]);
}

/** The ledger: a line for each trajectory of a stage, in the order of their ids. */
export function ledgerEntries(run: string, facts: StageFacts): LedgerEntry[] {
  const dispositions = dispositionsOf(facts);
  return [...knownTrajectories(run, facts)].sort().map((trajectory) => {
    const { stage } = facts;
    const record = facts.trajectories.get(trajectory);
    const known = defined<Omit<LedgerEntry, "state">>({ trajectory, stage, reward: record?.reward });
    const disposition = dispositions.get(trajectory);
    if (disposition !== undefined) return { ...known, ...disposition };
    if (record === undefined) {
      return { ...known, state: facts.trajectories.has(trajectory) ? "under way" : "reserved" };
    }
    if (record.outcome !== "left-out") return { ...known, state: "finished" };
    return { ...known, state: "left out", reason: record.failure ?? "" };
  });
}

/** How the steps used the trajectories that they were offered. */
function dispositionsOf({ uses }: StageFacts) {
  const dispositions = new Map<string, Pick<LedgerEntry, "state" | "step" | "reason">>();
  for (const [step, { leftOut }] of uses) {
    for (const { trajectory, reason } of leftOut) {
      dispositions.set(trajectory, { state: "left out", step, reason });
    }
  }
  for (const [step, { trajectories }] of uses) {
    for (const { trajectory } of trajectories) dispositions.set(trajectory, { state: "trained", step });
  }
  return dispositions;
}
