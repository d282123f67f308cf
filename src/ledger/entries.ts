import type { LedgerEntry } from "../contracts/ledger.ts";
import { stepOf } from "../contracts/stages.ts";
import { trajectoryOf } from "../trajectory/trajectory-of.ts";
import type { LedgerFacts } from "./facts.ts";
import { reservedTrajectories } from "./reservations.ts";

/** The ids of all trajectories that were reserved, or are there without (runs of 0.1 and 0.2 reserved none). */
export function knownTrajectories(run: string, { reservations, trajectories }: LedgerFacts): Set<string> {
  return new Set([...reservedTrajectories(run, reservations), ...trajectories.keys()]);
}

/** The ledger: a line for each trajectory, in order of their ids. */
export function ledgerEntries(run: string, facts: LedgerFacts): LedgerEntry[] {
  const dispositions = dispositionsOf(facts);
  return [...knownTrajectories(run, facts)].sort().map((trajectory) => {
    const { stage } = trajectoryOf(trajectory);
    const record = facts.trajectories.get(trajectory);
    const known = { trajectory, stage, ...(record === undefined ? {} : { reward: record.reward }) };
    const disposition = dispositions.get(trajectory);
    if (disposition !== undefined) return { ...known, ...disposition };
    if (record === undefined) {
      return { ...known, state: facts.trajectories.has(trajectory) ? "under way" : "reserved" };
    }
    if (record.outcome !== "left-out") return { ...known, state: "finished" };
    return { ...known, state: "left out", reason: record.failure ?? "" };
  });
}

/** What the steps made of the trajectories they were offered. */
function dispositionsOf({ trained, trajectories }: LedgerFacts) {
  const dispositions = new Map<string, Pick<LedgerEntry, "state" | "step" | "reason">>();
  for (const [step, record] of trained) {
    for (const { trajectory, reason } of record.leftOut ?? []) {
      dispositions.set(trajectory, { state: "left out", step, reason });
    }
  }
  for (const [step, record] of trained) {
    const consumed = record.trajectories?.map(({ trajectory }) => trajectory);
    for (const trajectory of consumed ?? finishedOf(step, trajectories)) {
      dispositions.set(trajectory, { state: "trained", step });
    }
  }
  return dispositions;
}

/** Steps of 0.1 and 0.2 trained on all trajectories of their stage that finished. */
function finishedOf(step: number, trajectories: LedgerFacts["trajectories"]): string[] {
  return [...trajectories].flatMap(([id, record]) =>
    stepOf(trajectoryOf(id).stage) === step && record !== undefined && record.outcome !== "left-out"
      ? [id]
      : [],
  );
}
