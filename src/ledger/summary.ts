import type { LedgerEntry, LedgerState } from "../contracts/ledger.ts";
import { stepOf } from "../contracts/stages.ts";
import type { LedgerFacts } from "./facts.ts";

/** The counts of a step, an evaluation, or forks. */
export interface StageSummary extends Record<Exclude<LedgerState, "reserved" | "under way">, number> {
  stage: string;
  /** All of its trajectories, with those that have not begun. */
  reserved: number;
  underWay: number;
  /** The version that a step made, once it is trained; that an evaluation measured. */
  policyVersion: number | undefined;
}

/** The ledger's counts by stage: evaluations by name, then steps, in order. */
export function summarize(entries: readonly LedgerEntry[], facts: LedgerFacts): StageSummary[] {
  const stages = new Map<string, LedgerEntry[]>();
  for (const entry of entries) {
    const own = stages.get(entry.stage);
    if (own === undefined) stages.set(entry.stage, [entry]);
    else own.push(entry);
  }
  return [...stages].map(([stage, own]) => {
    const count = (...states: LedgerState[]) => own.filter(({ state }) => states.includes(state)).length;
    const evaluation = facts.evaluations.find(({ name }) => name === stage);
    return {
      stage,
      reserved: own.length,
      underWay: count("reserved", "under way"),
      finished: count("finished"),
      trained: count("trained"),
      "left out": count("left out"),
      policyVersion: evaluation?.policyVersion ?? facts.trained.get(stepOf(stage) ?? 0)?.policyVersion,
    };
  });
}
