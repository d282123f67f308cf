import { defined } from "../../base/records/defined.ts";
import type { Turn } from "../../contracts/generated/trajectory.ts";
import type { RecordedCall } from "../../contracts/recorded-call.ts";
import { type Metrics, meanMetrics } from "./metrics.ts";
import { type JournalTurn, turnRecord } from "./turn-record.ts";

/** The turns of an ended trajectory. */
export interface Ended {
  turns: Turn[];
  /** The calls of all turns, in order. */
  calls: RecordedCall[];
  /** The version that generated each turn. */
  policyVersions: number[];
  /** The rewards that the tools added in each turn; undefined if there are none. */
  turnRewards: number[] | undefined;
  toolReward: number;
  /**
   * The tools' measurements as tool.metric, each the mean over the calls that reported it, and counts of cut texts.
   */
  metrics?: Metrics | undefined;
}

/** The turns of an ended trajectory, from its journal. */
export function endedTurns(entries: readonly JournalTurn[]): Ended {
  const recorded = entries.flatMap((entry) => entry.calls);
  const turnRewards = entries.map(({ calls }) => sum(calls.map(({ reward }) => reward)));
  return {
    turns: entries.map(turnRecord),
    calls: recorded,
    policyVersions: entries.map(({ generated }) => generated.policyVersion),
    turnRewards: turnRewards.some((reward) => reward !== 0) ? turnRewards : undefined,
    toolReward: sum(turnRewards),
    metrics: { ...toolMetrics(recorded), ...cutMetrics(entries) },
  };
}

/** The number of actions cut at a token limit, and of observations cut at theirs. A count of 0 is absent. */
function cutMetrics(entries: readonly JournalTurn[]): Metrics {
  const actions = entries.filter(({ generated }) => generated.finishReason === "length").length;
  const observations = sum(
    entries.map(({ calls }, turn) => {
      const ofCharacters = calls.filter(({ whole }) => whole !== undefined).length;
      return Math.max(ofCharacters, entries[turn + 1]?.generated.cutObservations ?? 0); // one may be cut at both limits
    }),
  );
  return defined({
    cutActions: actions === 0 ? undefined : actions,
    cutObservations: observations === 0 ? undefined : observations,
  });
}

/**
 * The tools' measurements as tool.metric, each the mean over the calls that reported it; undefined if there are
 * none.
 */
export function toolMetrics(calls: readonly RecordedCall[]): Metrics | undefined {
  return meanMetrics(calls.map(metricsOf));
}

function metricsOf({ tool, metrics = {} }: RecordedCall): Metrics {
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [`${tool}.${name}`, value]));
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
