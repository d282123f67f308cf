import type { LedgerEntry, LedgerState } from "../../contracts/ledger.ts";

/** The counts of a step, an evaluation, or forks. */
export interface StageSummary extends Record<Exclude<LedgerState, "reserved" | "under way">, number> {
  stage: string;
  /** All of its trajectories, with those that have not begun. */
  reserved: number;
  underWay: number;
  /** The version that a step made, once it is trained; that an evaluation measured. */
  policyVersion: number | undefined;
}

/** The ledger's counts of a stage. */
export function summarize(
  stage: string,
  entries: readonly LedgerEntry[],
  policyVersion: number | undefined,
): StageSummary {
  const count = (...states: LedgerState[]) => entries.filter(({ state }) => states.includes(state)).length;
  return {
    stage,
    reserved: entries.length,
    underWay: count("reserved", "under way"),
    finished: count("finished"),
    trained: count("trained"),
    "left out": count("left out"),
    policyVersion,
  };
}
