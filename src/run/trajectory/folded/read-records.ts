import { defined } from "../../../base/records/defined.ts";
import type { Failure } from "../../../contracts/recorded-call.ts";
import { endingOf, type Stored, type StoredRecords } from "../../projections/stored-records.ts";
import type { Key } from "../../store/key.ts";
import { failureKey, type TrajectoryName, trajectoryKey, trajectoryPrefix } from "../../store/keys.ts";
import { listed } from "../../store/listed.ts";
import type { Store } from "../../store/store.ts";
import { recordedTurns } from "../segments.ts";
import { leftOutRecords } from "../trajectory-files.ts";
import { readCalls } from "../turn-journal.ts";

type Reads = Pick<Store, "read">;

/** Reads all single records of a trajectory from the store. */
export async function readRecords(
  store: Pick<Store, "read" | "list">,
  name: TrajectoryName,
): Promise<StoredRecords> {
  const record = await store.read(trajectoryKey(name));
  const records: StoredRecords = defined({
    record,
    leftOut: await leftOutRecords(store, name),
    turns: [],
    scoreFailures: await failuresOf(store, (failure) => failureKey(name, "score", failure)),
  });
  const recorded = [];
  for await (const turn of recordedTurns(store, name)) recorded.push(turn);
  for (const [index, turn] of recorded.entries()) {
    const begun =
      recorded[index + 1]?.callsBefore ?? (await begunAtLast(store, name, records, recorded.length));
    const calls = await keptCalls(store, name, index + 1, begun);
    records.turns.push({ recorded: turn, begun, calls });
  }
  return records;
}

/**
 * How many calls the last turn began. The record of a scored trajectory has the number. That of one that was left
 * out may come from its journal, which does not see past an unanswered call, and a turn may have followed the
 * record. Then the listing counts.
 */
async function begunAtLast(
  store: Pick<Store, "list">,
  name: TrajectoryName,
  records: StoredRecords,
  turn: number,
): Promise<number> {
  const last = endingOf(records)?.turns[turn - 1];
  const told = last === undefined ? 0 : last.toolCalls.length + (last.unanswered ?? 0);
  return records.record !== undefined && last !== undefined
    ? told
    : Math.max(told, await listedCalls(store, name, turn));
}

/** The number of calls of a turn up to the last one that has an answer or a failure. */
async function listedCalls(store: Pick<Store, "list">, name: TrajectoryName, turn: number): Promise<number> {
  const place = trajectoryPrefix(name);
  const ofTurn = new RegExp(`^(?:turn-${turn}-call-|calls/${turn}-)(\\d+)`);
  let begun = 0;
  for await (const path of listed(store, place)) {
    const call = ofTurn.exec(path.slice(place.prefix.length))?.[1];
    if (call !== undefined) begun = Math.max(begun, Number(call) + 1);
  }
  return begun;
}

async function keptCalls(store: Reads, name: TrajectoryName, turn: number, begun: number): Promise<Stored[]> {
  const answered = new Map(
    (await readCalls(store, name, turn, begun)).map(({ call, recorded }) => [call, recorded]),
  );
  const calls: Stored[] = [];
  for (let call = 0; call < begun; call++) {
    const recorded = answered.get(call);
    const failures = await failuresOf(store, (failure) => failureKey(name, { turn, call }, failure));
    if (recorded !== undefined) calls.push({ call, recorded, failures });
    else if (failures.length > 0) calls.push({ call, failures });
  }
  return calls;
}

/** The failures at 1, 2, 3 … until one is absent. */
async function failuresOf(store: Reads, key: (failure: number) => Key<Failure>): Promise<Failure[]> {
  const failures: Failure[] = [];
  for (;;) {
    const failure = await store.read(key(failures.length + 1));
    if (failure === undefined) return failures;
    failures.push(failure);
  }
}
