import type { CallFailure } from "../../contracts/recorded-call.ts";
import type { Key } from "../../store/key.ts";
import { failureKey, type TrajectoryName, trajectoryKey } from "../../store/keys.ts";
import type { Store } from "../../store/store.ts";
import { recordedTurns } from "../segments.ts";
import { leftOutRecords } from "../trajectory-files.ts";
import { readCalls } from "../turn-journal.ts";
import { endingOf, type KeptCall, type TrajectoryRecords } from "./trajectory-records.ts";

type Reads = Pick<Store, "read">;

/** Reads all that the store holds of a trajectory record by record. */
export async function readRecords(store: Reads, name: TrajectoryName): Promise<TrajectoryRecords> {
  const record = await store.read(trajectoryKey(name));
  const records: TrajectoryRecords = {
    ...(record === undefined ? {} : { record }),
    leftOut: await leftOutRecords(store, name),
    turns: [],
    scoreFailures: await failuresOf(store, (failure) => failureKey(name, "score", failure)),
  };
  const recorded = [];
  for await (const turn of recordedTurns(store, name)) recorded.push(turn);
  const lastTurn = endingOf(records)?.turns[recorded.length - 1];
  const begunAtLast = lastTurn && lastTurn.toolCalls.length + (lastTurn.unanswered ?? 0);
  for (const [index, turn] of recorded.entries()) {
    const begun = recorded[index + 1]?.callsBefore ?? begunAtLast;
    const calls = await keptCalls(store, name, index + 1, begun);
    records.turns.push({ recorded: turn, begun: begun ?? calls.length, calls });
  }
  return records;
}

async function keptCalls(
  store: Reads,
  name: TrajectoryName,
  turn: number,
  begun: number | undefined,
): Promise<KeptCall[]> {
  const answered = new Map(
    (await readCalls(store, name, turn, begun)).map(({ call, recorded }) => [call, recorded]),
  );
  const calls: KeptCall[] = [];
  for (let call = 0; call < (begun ?? answered.size); call++) {
    const recorded = answered.get(call);
    const failures = await failuresOf(store, (failure) => failureKey(name, { turn, call }, failure));
    if (recorded !== undefined) calls.push({ call, recorded, failures });
    else if (failures.length > 0) calls.push({ call, failures });
  }
  return calls;
}

/** Those at 1, 2, 3 … until one is absent. */
async function failuresOf(store: Reads, key: (failure: number) => Key<CallFailure>): Promise<CallFailure[]> {
  const failures: CallFailure[] = [];
  for (;;) {
    const failure = await store.read(key(failures.length + 1));
    if (failure === undefined) return failures;
    failures.push(failure);
  }
}
