import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import type { Failure, RecordedCall } from "../../contracts/recorded-call.ts";
import type { RecordedTurn } from "../../contracts/recorded-turn.ts";

/** All that the store holds of a trajectory, record by record. */
export interface StoredRecords {
  /** How it was scored; absent where it was left out. */
  record?: Trajectory;
  /** What was recorded each time that it was left out. */
  leftOut: Trajectory[];
  turns: StoredTurn[];
  scoreFailures: Failure[];
}

/** A turn and its calls. */
export interface StoredTurn {
  recorded: RecordedTurn;
  /** How many calls it began. */
  begun: number;
  /** Those that were answered, or failed. */
  calls: Stored[];
}

/** A tool call of a turn. */
export interface Stored {
  /** Its number in the turn, from 0. */
  call: number;
  recorded?: RecordedCall;
  failures: Failure[];
}

/** How the trajectory ended; undefined if nothing says so. */
export function endingOf({ record, leftOut }: StoredRecords): Trajectory | undefined {
  return record ?? leftOut.at(-1);
}

/** The calls of a turn that were answered. */
export function answeredCalls({ calls }: StoredTurn): RecordedCall[] {
  return calls.flatMap(({ recorded = [] }) => recorded);
}
