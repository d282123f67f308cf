import { join } from "node:path";
import type { CallEntry, GenerateTurnResult } from "../contracts/activities.ts";
import type { RecordedTurn } from "../contracts/recorded-turn.ts";
import type { RefusedCall } from "../contracts/trajectory.ts";
import { namesIn } from "../files/names-in.ts";
import { readRecord } from "../files/whole-files.ts";
import type { RunFolder } from "../runs/run-folder.ts";
import type { TrajectoryName } from "../store/keys.ts";
import type { Store } from "../store/store.ts";
import { once } from "./journal.ts";
import { recordedTurns } from "./segments.ts";

/** Where the journals of a run are: turns in its store, calls in its folder. */
export interface Journals {
  folder: Pick<RunFolder, "trajectory">;
  store: Pick<Store, "read">;
}

/** A turn as the journal in a trajectory's folder holds it: the action, and the calls that have been answered. */
export interface TurnEntry {
  generated: GenerateTurnResult;
  calls: CallEntry[];
}

/** What the activity that generated a turn answers. */
export function resultOf({ appended: _, action, ...rest }: RecordedTurn): GenerateTurnResult {
  return { ...rest, action: action.text, policyVersion: action.policyVersion ?? 0 };
}

/** The file of a tool call. */
export function callFile(folder: string, turn: number, call: number): string {
  return join(folder, `turn-${turn}-call-${call}.json`);
}

/** The first `count` turns of a trajectory, or all that there are. Throws RECORD_CORRUPT. */
export async function readTurns(
  run: Journals,
  place: TrajectoryName,
  count = Number.POSITIVE_INFINITY,
): Promise<TurnEntry[]> {
  const turns: TurnEntry[] = [];
  if (count === 0) return turns;
  const folder = run.folder.trajectory(place);
  const calls = await callNumbers(folder);
  for await (const recorded of recordedTurns(run.store, place)) {
    const turn = turns.length + 1;
    const numbers = calls.get(turn) ?? [];
    const entries = await Promise.all(
      numbers.map((call) => readRecord<CallEntry>(callFile(folder, turn, call))),
    );
    turns.push({ generated: resultOf(recorded), calls: entries.filter((entry) => entry !== undefined) });
    if (turns.length === count) break;
  }
  return turns;
}

/** Writes calls down that no tool was asked for, so that the journal holds every call. */
export async function recordRefused(folder: string, refused: readonly RefusedCall[] = []): Promise<void> {
  for (const { turn, call, ...answered } of refused) {
    await once<CallEntry>(callFile(folder, turn, call), async () => ({
      ...answered,
      ...{ valid: answered.approval !== undefined, reward: 0, attempts: 0, seconds: 0 },
    }));
  }
}

/** The numbers of the calls of each turn, in order. */
async function callNumbers(folder: string): Promise<Map<number, number[]>> {
  const numbers = new Map<number, number[]>();
  for (const name of await namesIn(folder)) {
    const [, turn, call] = /^turn-(\d+)-call-(\d+)\.json$/.exec(name) ?? [];
    if (turn === undefined) continue;
    numbers.set(
      Number(turn),
      [...(numbers.get(Number(turn)) ?? []), Number(call)].sort((a, b) => a - b),
    );
  }
  return numbers;
}
