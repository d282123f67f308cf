import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { CallToolResult, GenerateTurnResult } from "../contracts/activities.ts";
import type { Segment } from "../contracts/generated/segment.ts";
import type { TrajectoryRecord } from "../contracts/generated/trajectory.ts";
import type { TokenCounts, ToolCallRecord } from "../contracts/trajectory.ts";
import { readRecord } from "../runs/files.ts";
import type { OpenRun } from "../runs/open-runs.ts";
import { readTrajectoryRecord, type TrajectoryFile } from "./trajectory-files.ts";

/** A tool call to show; while the trajectory is under way its tool and arguments stand in the action only. */
export type CallDetail = Omit<ToolCallRecord, "tool" | "arguments"> & Partial<ToolCallRecord>;

/** A turn to show. What only the turn's own file holds is absent if that file is. */
export interface TurnDetail {
  action: string;
  toolCalls: CallDetail[];
  generated?: Omit<GenerateTurnResult, "action">;
}

/** A trajectory to show, finished or as far as it is. */
export interface TrajectoryDetail {
  id: string;
  /** Absent while it is under way. */
  record?: TrajectoryRecord;
  turns: TurnDetail[];
  tokens: TokenCounts;
  segments: Segment[];
}

/** Reads all there is of a trajectory: its record, its turns' own files and its segments. */
export async function readTrajectory(
  { folder, store }: Pick<OpenRun, "folder" | "store">,
  file: TrajectoryFile & { id: string },
): Promise<TrajectoryDetail> {
  const { id } = file;
  const record = await readTrajectoryRecord(folder, file);
  const generated = await readTurns(folder.trajectory(file));
  if (record === undefined) {
    const turns = await Promise.all(
      generated.map(async (turn, index) =>
        turnUnderWay(turn, await readCalls(folder.trajectory(file), index + 1)),
      ),
    );
    const tokens = generated
      .map((turn) => turn.tokens)
      .reduce(sumOf, { prompt: 0, action: 0, observation: 0 });
    return { id, turns, tokens, segments: await store.chain(generated.at(-1)?.head ?? null) };
  }
  const turns = record.turns.map((turn, index) => ({ ...turn, ...detailsOf(generated[index]) }));
  return { id, record, turns, tokens: record.tokens, segments: await store.chain(record.head) };
}

async function readTurns(folder: string): Promise<GenerateTurnResult[]> {
  const turns: GenerateTurnResult[] = [];
  for (;;) {
    const turn = await readRecord<GenerateTurnResult>(join(folder, `turn-${turns.length + 1}.json`));
    if (turn === undefined) return turns;
    turns.push(turn);
  }
}

async function readCalls(folder: string, turn: number): Promise<CallToolResult[]> {
  const pattern = new RegExp(`^turn-${turn}-call-(\\d+)\\.json$`);
  const numbers = (await readdir(folder)).flatMap((name) => pattern.exec(name)?.[1] ?? []).map(Number);
  const paths = numbers.sort((a, b) => a - b).map((call) => join(folder, `turn-${turn}-call-${call}.json`));
  const calls = await Promise.all(paths.map((path) => readRecord<CallToolResult>(path)));
  return calls.filter((call) => call !== undefined);
}

function turnUnderWay(turn: GenerateTurnResult, calls: CallToolResult[]): TurnDetail {
  const toolCalls = calls.map(({ observation, valid, attempts }) => ({ observation, valid, attempts }));
  return { action: turn.action, toolCalls, ...detailsOf(turn) };
}

function detailsOf(turn: GenerateTurnResult | undefined): Pick<TurnDetail, "generated"> {
  if (turn === undefined) return {};
  const { action: _, ...generated } = turn;
  return { generated };
}

function sumOf(a: TokenCounts, b: TokenCounts): TokenCounts {
  return {
    prompt: a.prompt + b.prompt,
    action: a.action + b.action,
    observation: a.observation + b.observation,
  };
}
