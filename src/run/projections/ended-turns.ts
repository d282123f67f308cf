import { defined } from "../../base/records/defined.ts";
import type { Turn } from "../../contracts/generated/trajectory.ts";
import type { RecordedCall } from "../../contracts/recorded-call.ts";
import { type Metrics, meanMetrics } from "./metrics.ts";
import { type JournalTurn, turnRecord } from "./turn-record.ts";

/** The turns of a trajectory that has ended. */
export interface Ended {
  turns: Turn[];
  /** The calls of all turns, in order. */
  calls: RecordedCall[];
  /** The version that generated each turn. */
  policyVersions: number[];
  /** What the tools of each turn added to the reward; undefined if nothing. */
  turnRewards: number[] | undefined;
  toolReward: number;
  /** What the tools measured, as tool.metric: the mean of the calls that told it; and what was cut. */
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

/** How many actions were cut at a limit of tokens, and how many observations at theirs; each absent where none was. */
function cutMetrics(entries: readonly JournalTurn[]): Metrics {
  const actions = entries.filter(({ generated }) => generated.finishReason === "length").length;
  const observations = sum(
    entries.map(({ calls }, turn) => {
      const ofCharacters = calls.filter(({ whole }) => whole !== undefined).length;
      return Math.max(ofCharacters, entries[turn + 1]?.generated.cutObservations ?? 0); // one may be cut at both
    }),
  );
  return defined({
    cutActions: actions === 0 ? undefined : actions,
    cutObservations: observations === 0 ? undefined : observations,
  });
}

/** What tools measured, as tool.metric: the mean of the calls that told it; undefined if nothing. */
export function toolMetrics(calls: readonly RecordedCall[]): Metrics | undefined {
  return meanMetrics(calls.map(metricsOf));
}

function metricsOf({ tool, metrics = {} }: RecordedCall): Metrics {
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [`${tool}.${name}`, value]));
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
