import type { TrajectoryRecord } from "../../../contracts/generated/trajectory.ts";
import type { CallFailure, RecordedCall } from "../../../contracts/recorded-call.ts";
import type { RecordedTurn } from "../../../contracts/recorded-turn.ts";

/** All that the store holds of a trajectory, record by record. */
export interface TrajectoryRecords {
  /** How it was scored; absent where it was left out. */
  record?: TrajectoryRecord;
  /** What was recorded each time that it was left out. */
  leftOut: TrajectoryRecord[];
  turns: KeptTurn[];
  scoreFailures: CallFailure[];
}

/** A turn and its calls. */
export interface KeptTurn {
  recorded: RecordedTurn;
  /** How many calls it began. */
  begun: number;
  /** Those that were answered, or failed. */
  calls: KeptCall[];
}

/** A tool call of a turn. */
export interface KeptCall {
  /** Its number in the turn, from 0. */
  call: number;
  recorded?: RecordedCall;
  failures: CallFailure[];
}

/** How the trajectory ended; undefined if nothing says so. */
export function endingOf({ record, leftOut }: TrajectoryRecords): TrajectoryRecord | undefined {
  return record ?? leftOut.at(-1);
}

/** The calls of a turn that were answered. */
export function answeredCalls({ calls }: KeptTurn): RecordedCall[] {
  return calls.flatMap(({ recorded = [] }) => recorded);
}
