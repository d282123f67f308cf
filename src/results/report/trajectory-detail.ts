import { defined } from "../../base/records/defined.ts";
import type { GenerateTurnResult } from "../../contracts/generate-turn.ts";
import type { Segment } from "../../contracts/generated/segment.ts";
import type { Call, Trajectory } from "../../contracts/generated/trajectory.ts";
import type { SpokenMessage } from "../../contracts/message.ts";
import type { TokenCounts } from "../../contracts/trajectory.ts";
import { callRecord, type JournalTurn } from "../../run/projections/turn-record.ts";
import { turnResult } from "../../run/projections/turn-result.ts";
import type { TrajectoryName } from "../../run/store/keys.ts";
import type { Store } from "../../run/store/store.ts";
import { readRows, recordedTurns } from "../../run/trajectory/segments.ts";
import { readTrajectoryRecord } from "../../run/trajectory/trajectory-files.ts";
import { readTurns } from "../../run/trajectory/turn-journal.ts";

/** A turn to show. What only the turn's own file holds is absent if that file is. */
export interface Detail {
  /** The sub-agent whose turn it is. */
  agent?: string;
  action: string;
  toolCalls: Call[];
  /** What people said before the action. */
  said?: SpokenMessage[];
  generated?: Omit<GenerateTurnResult, "action" | "agent" | "said">;
}

/** A trajectory to show, finished or as far as it is. */
export interface TrajectoryDetail {
  id: string;
  /** Absent while it is under way. */
  record?: Trajectory;
  turns: Detail[];
  tokens: TokenCounts;
  /** Those of all rows, one row after the other. */
  segments: Segment[];
}

/** Reads all there is of a trajectory: its record, its turns' own files and its segments. */
export async function readTrajectory(
  store: Pick<Store, "read">,
  name: TrajectoryName & { id: string },
): Promise<TrajectoryDetail> {
  const { id } = name;
  const record = await readTrajectoryRecord(store, name);
  if (record === undefined) {
    const entries = await readTurns(store, name);
    const tokens = entries
      .map(({ generated }) => generated.tokens)
      .reduce(sumOf, { prompt: 0, action: 0, observation: 0 });
    const segments = await segmentsOf(store, name, entries.at(-1)?.generated.head ?? null);
    return { id, turns: entries.map(turnUnderWay), tokens, segments };
  }
  const results: GenerateTurnResult[] = [];
  for await (const recorded of recordedTurns(store, name)) results.push(turnResult(recorded));
  const turns = record.turns.map((turn, index) => ({ ...turn, ...detailsOf(results[index]) }));
  return { id, record, turns, tokens: record.tokens, segments: await segmentsOf(store, name, record.head) };
}

async function segmentsOf(...trajectory: Parameters<typeof readRows>): Promise<Segment[]> {
  return (await readRows(...trajectory)).rows.flat();
}

function turnUnderWay({ generated, calls }: JournalTurn): Detail {
  return { action: generated.action, toolCalls: calls.map(callRecord), ...detailsOf(generated) };
}

function detailsOf(turn: GenerateTurnResult | undefined): Pick<Detail, "agent" | "generated" | "said"> {
  if (turn === undefined) return {};
  const { action: _, agent, said, ...generated } = turn;
  return defined({ agent, generated, said });
}

function sumOf(a: TokenCounts, b: TokenCounts): TokenCounts {
  return {
    prompt: a.prompt + b.prompt,
    action: a.action + b.action,
    observation: a.observation + b.observation,
  };
}
