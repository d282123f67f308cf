import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { CallToolResult } from "../contracts/activities.ts";
import type { Approval } from "../contracts/approval.ts";
import type { JsonObject } from "../contracts/json.ts";
import { isSystemError } from "../errors/system-error.ts";
import { readRecord } from "../files/whole-files.ts";

/** A call in the journal of a trajectory. */
export interface RecordedCall extends CallToolResult {
  tool: string;
  arguments: JsonObject;
  /** What became of it, if it waited for approval. */
  approval?: Approval["decision"];
  /** What the tool measured. */
  metrics?: Record<string, number>;
  /** Of the instance's state after the call, by content. */
  snapshot?: string;
}

/** Where a call stands in its trajectory. */
export interface CallPlace {
  turn: number;
  call: number;
}

/** The calls in the journal `folder` of a trajectory that a tool answered, in order. */
export async function recordedCalls(folder: string): Promise<(CallPlace & { recorded: RecordedCall })[]> {
  const calls: (CallPlace & { recorded: RecordedCall })[] = [];
  for (const file of filesIn(folder)) {
    const match = /^turn-(\d+)-call-(\d+)\.json$/.exec(file);
    if (match === null) continue;
    const recorded = await readRecord<RecordedCall>(join(folder, file));
    if (recorded?.valid !== true || recorded.attempts === 0 || recorded.tool === undefined) continue;
    calls.push({ turn: Number(match[1]), call: Number(match[2]), recorded });
  }
  return calls.sort((a, b) => a.turn - b.turn || a.call - b.call);
}

/** Whether the call at `a` was made before the one at `b`. */
export function isBefore(a: CallPlace, b: CallPlace): boolean {
  return a.turn < b.turn || (a.turn === b.turn && a.call < b.call);
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isSystemError(error, "ENOENT") || isSystemError(error, "ENOTDIR")) return [];
    throw error;
  }
}
