import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { CallEntry, GenerateTurnResult } from "../contracts/activities.ts";
import type { RefusedCall } from "../contracts/trajectory.ts";
import { readRecord } from "../runs/files.ts";
import { isSystemError } from "../store/system-error.ts";
import { once } from "./journal.ts";

/** A turn as the journal in a trajectory's folder holds it: the action, and the calls that have been answered. */
export interface TurnEntry {
  generated: GenerateTurnResult;
  calls: CallEntry[];
}

/** The file of a turn's action, in the trajectory's folder. */
export function turnFile(folder: string, turn: number): string {
  return join(folder, `turn-${turn}.json`);
}

/** The file of a tool call. */
export function callFile(folder: string, turn: number, call: number): string {
  return join(folder, `turn-${turn}-call-${call}.json`);
}

/** The first `count` turns of a trajectory, or all that there are. Throws RECORD_CORRUPT. */
export async function readTurns(folder: string, count = Number.POSITIVE_INFINITY): Promise<TurnEntry[]> {
  const calls = await callNumbers(folder);
  const turns: TurnEntry[] = [];
  while (turns.length < count) {
    const turn = turns.length + 1;
    const generated = await readRecord<GenerateTurnResult>(turnFile(folder, turn));
    if (generated === undefined) break;
    const numbers = calls.get(turn) ?? [];
    const entries = await Promise.all(
      numbers.map((call) => readRecord<CallEntry>(callFile(folder, turn, call))),
    );
    turns.push({ generated, calls: entries.filter((entry) => entry !== undefined) });
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

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return [];
    throw error;
  }
}
