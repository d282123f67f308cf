import type { StoredRecords } from "../../projections/stored-records.ts";
import {
  callKey,
  failureKey,
  leftOutKey,
  type TrajectoryName,
  trajectoryKey,
  turnKey,
} from "../../store/keys.ts";

/** A record's value. Its key determines the type. */
export type StoredJson = ReturnType<typeof JSON.parse>;

/** The records of a trajectory by the paths of their keys, as a store has them singly. */
export function* recordsByKey(
  name: TrajectoryName,
  { record, leftOut, turns, scoreFailures }: StoredRecords,
): Generator<[path: string, value: StoredJson]> {
  if (record !== undefined) yield [trajectoryKey(name).path, record];
  for (const [index, one] of leftOut.entries()) yield [leftOutKey(name, index + 1).path, one];
  for (const [index, failure] of scoreFailures.entries()) {
    yield [failureKey(name, "score", index + 1).path, failure];
  }
  for (const [index, { recorded, calls }] of turns.entries()) {
    const turn = index + 1;
    yield [turnKey(name, turn).path, recorded];
    for (const { call, recorded: answer, failures } of calls) {
      if (answer !== undefined) yield [callKey(name, turn, call).path, answer];
      for (const [number, failure] of failures.entries()) {
        yield [failureKey(name, { turn, call }, number + 1).path, failure];
      }
    }
  }
}
