import { defined } from "../../base/records/defined.ts";
import type { GenerateTurnResult } from "../../contracts/generate-turn.ts";
import type { Segment } from "../../contracts/generated/segment.ts";
import type { Call, Trajectory } from "../../contracts/generated/trajectory.ts";
import type { SpokenMessage } from "../../contracts/message.ts";
import type { TokenCounts } from "../../contracts/trajectory.ts";
import { callRecord, type JournalTurn } from "./turn-record.ts";
import { totalTokens } from "./turn-result.ts";

/** A turn for display. Fields from the turn's own file are absent if the file is. */
export interface Detail {
  /** The sub-agent that took the turn. */
  agent?: string;
  action: string;
  toolCalls: Call[];
  /** Messages that people sent before the action. */
  said?: SpokenMessage[];
  /** The fields that only the turn's own file has. Absent without that file. */
  generated?: Omit<GenerateTurnResult, "action" | "agent" | "said">;
}

/** A trajectory for display, finished or in progress. */
export interface TrajectoryDetail {
  id: string;
  /** Absent while it is in progress. */
  record?: Trajectory;
  turns: Detail[];
  tokens: TokenCounts;
  /** The segments of all rows, one row after the other. */
  segments: Segment[];
}

/** The detail of a trajectory in progress, from its journal. */
export function detailSoFar(
  id: string,
  entries: readonly JournalTurn[],
  segments: Segment[],
): TrajectoryDetail {
  const tokens = totalTokens(entries.map(({ generated }) => generated));
  return { id, turns: entries.map(turnInProgress), tokens, segments };
}

/** The detail of a finished trajectory, from its record. `results` contains those turns whose files exist. */
export function recordDetail(
  id: string,
  record: Trajectory,
  results: readonly GenerateTurnResult[],
  segments: Segment[],
): TrajectoryDetail {
  const turns = record.turns.map((turn, index) => ({ ...turn, ...detailsOf(results[index]) }));
  return { id, record, turns, tokens: record.tokens, segments };
}

function turnInProgress({ generated, calls }: JournalTurn): Detail {
  return { action: generated.action, toolCalls: calls.map(callRecord), ...detailsOf(generated) };
}

function detailsOf(turn: GenerateTurnResult | undefined): Pick<Detail, "agent" | "generated" | "said"> {
  if (turn === undefined) return {};
  const { action: _, agent, said, ...generated } = turn;
  return defined({ agent, generated, said });
}
