import { defined } from "../../base/records/defined.ts";
import type { GenerateTurnResult } from "../../contracts/generate-turn.ts";
import type { RecordedCall } from "../../contracts/recorded-call.ts";
import type { Unrecorded } from "../../contracts/trajectory.ts";
import type { JournalTurn } from "../projections/turn-record.ts";
import { turnResult } from "../projections/turn-result.ts";
import { callKey, type TrajectoryName } from "../store/keys.ts";
import type { Store } from "../store/store.ts";
import { recordedTurns } from "./segments.ts";

/**
 * The first `turns` turns of a trajectory. The last one began `calls` calls. If these numbers are unknown, all recorded
 * turns, with the last one's calls up to the first unanswered one.
 */
export async function readTurns(
  store: Pick<Store, "read">,
  place: TrajectoryName,
  ended?: { turns: number; calls: number },
): Promise<JournalTurn[]> {
  if (ended?.turns === 0) return [];
  const results: GenerateTurnResult[] = [];
  const begunBefore: number[] = [];
  for await (const recorded of recordedTurns(store, place)) {
    begunBefore.push(recorded.callsBefore);
    results.push(turnResult(recorded));
    if (results.length === ended?.turns) break;
  }
  return Promise.all(
    results.map(async (generated, index) => {
      const turn = index + 1;
      const begun = begunBefore[turn] ?? (turn === ended?.turns ? ended.calls : undefined);
      const calls = await readCalls(store, place, turn, begun);
      return { generated, begun: begun ?? calls.length, calls: calls.map(({ recorded }) => recorded) };
    }),
  );
}

/**
 * The answered calls among the first `begun` calls of a turn, in order; up to the first gap if the number is
 * unknown.
 */
export async function readCalls(
  store: Pick<Store, "read">,
  place: TrajectoryName,
  turn: number,
  begun?: number,
): Promise<{ call: number; recorded: RecordedCall }[]> {
  const found: { call: number; recorded: RecordedCall }[] = [];
  for (let call = 0; call < (begun ?? Number.POSITIVE_INFINITY); call++) {
    const recorded = await store.read(callKey(place, turn, call));
    if (recorded !== undefined) found.push({ call, recorded });
    else if (begun === undefined) break;
  }
  return found;
}

/** Records calls that were rejected before reaching a tool, so that the journal contains every call. */
export async function recordRefused(
  store: Pick<Store, "record">,
  place: TrajectoryName,
  refused: readonly Unrecorded[] = [],
): Promise<void> {
  for (const { turn, call, ...answered } of refused) {
    const recorded = defined<RecordedCall>({
      reward: 0,
      attempts: 0,
      seconds: 0,
      ...answered,
      valid: answered.valid ?? answered.approval !== undefined,
    });
    await store.record(callKey(place, turn, call), recorded);
  }
}
