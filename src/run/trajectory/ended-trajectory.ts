import { defined } from "../../base/records/defined.ts";
import type { EndedTrajectory, Lost } from "../../contracts/activities.ts";
import type { Turn } from "../../contracts/generated/trajectory.ts";
import type { RecordedCall } from "../../contracts/recorded-call.ts";
import type { TokenCounts } from "../../contracts/trajectory.ts";
import type { Store } from "../store/store.ts";
import { type Metrics, meanMetrics } from "./metrics.ts";
import { type JournalTurn, readTurns, recordRefused } from "./turn-journal.ts";
import { turnRecord } from "./turn-record.ts";

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

/** How far a trajectory came, by its journal. */
export async function foundInJournal(store: Pick<Store, "read">, lost: Lost): Promise<EndedTrajectory> {
  const entries = await readTurns(store, lost.place);
  const generated = entries.map((entry) => entry.generated);
  const total = (origin: keyof TokenCounts) => sum(generated.map(({ tokens }) => tokens[origin]));
  const tokens = { prompt: total("prompt"), action: total("action"), observation: total("observation") };
  const calls = entries.at(-1)?.begun ?? 0;
  return { ...lost, turns: generated.length, calls, head: generated.at(-1)?.head ?? null, tokens };
}

/** Reads the turns of an ended trajectory from its journal, after adding what it lacks. */
export async function readEnded(
  store: Pick<Store, "read" | "record">,
  ended: EndedTrajectory,
): Promise<Ended> {
  const { place, turns, calls } = ended;
  await recordRefused(store, place, ended.refused);
  const entries = await readTurns(store, place, { turns, calls });
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
