import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import type { Failure, RecordedCall } from "../../contracts/recorded-call.ts";
import type { RecordedTurn } from "../../contracts/recorded-turn.ts";

/** All records of a trajectory in the store. */
export interface StoredRecords {
  /** Its scored record; absent if it was left out. */
  record?: Trajectory;
  /** One record for each time that it was left out. */
  leftOut: Trajectory[];
  turns: StoredTurn[];
  scoreFailures: Failure[];
}

/** A turn with its calls. */
export interface StoredTurn {
  recorded: RecordedTurn;
  /** The number of calls that it began. */
  begun: number;
  /** Calls with an answer or a failure. */
  calls: Stored[];
}

/** A tool call of a turn. */
export interface Stored {
  /** Its index in the turn, from 0. */
  call: number;
  recorded?: RecordedCall;
  failures: Failure[];
}

/** The record of a trajectory's end; undefined if there is none. */
export function endingOf({ record, leftOut }: StoredRecords): Trajectory | undefined {
  return record ?? leftOut.at(-1);
}

/** The answered calls of a turn. */
export function answeredCalls({ calls }: StoredTurn): RecordedCall[] {
  return calls.flatMap(({ recorded = [] }) => recorded);
}
