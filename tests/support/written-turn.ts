import type { Segment } from "../../src/contracts/generated/segment.ts";
import type { RecordedTurn } from "../../src/contracts/recorded-turn.ts";
import { segmentRef } from "../../src/run/projections/segment-ref.ts";
import { type TrajectoryName, turnKey } from "../../src/run/store/keys.ts";
import type { Store } from "../../src/run/store/store.ts";

/** Records a turn with these two segments, as the activity does; its head. */
export async function writeTurn(
  store: Store,
  place: TrajectoryName,
  turn: number,
  [appended, action]: readonly [Segment, Segment],
  more: Partial<RecordedTurn> = {},
): Promise<string> {
  const counts = { prompt: 0, observation: 0, [appended.origin]: appended.tokens.length };
  const head = segmentRef(action);
  await store.record(turnKey(place, turn), {
    appended,
    action,
    head,
    tokens: { ...counts, action: action.tokens.length },
    finishReason: "stop",
    seconds: 0.125,
    workSeconds: 0.1,
    callsBefore: 0,
    ...more,
  });
  return head;
}
