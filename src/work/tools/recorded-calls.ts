import type { JsonObject } from "../../contracts/json.ts";
import type { RecordedCall } from "../../contracts/recorded-call.ts";
import { type TrajectoryName, turnKey } from "../../run/store/keys.ts";
import type { Store } from "../../run/store/store.ts";
import { readCalls } from "../../run/trajectory/turn-journal.ts";

/**
 * A call that a tool answered. Its arguments match the tool's schema, although the tool may have found it
 * invalid.
 */
export interface Answered extends RecordedCall {
  arguments: JsonObject;
}

/** The position of a call in its trajectory. */
export interface Position {
  turn: number;
  call: number;
}

/** Returns the calls of a trajectory before the one at `end` that a tool answered, in order. */
export async function recordedCalls(
  store: Pick<Store, "read">,
  place: TrajectoryName,
  end: Position,
): Promise<(Position & { recorded: Answered })[]> {
  const calls: (Position & { recorded: Answered })[] = [];
  for (let turn = 1; turn <= end.turn; turn++) {
    const begun = turn === end.turn ? end.call : (await store.read(turnKey(place, turn + 1)))?.callsBefore;
    for (const { call, recorded } of await readCalls(store, place, turn, begun)) {
      if (isAnswered(recorded)) calls.push({ turn, call, recorded });
    }
  }
  return calls;
}

/** Whether a tool answered the call, so that neither the call nor its arguments were refused. */
export function isAnswered(call: RecordedCall): call is Answered {
  const isAsked = call.valid || call.invalid !== undefined;
  return isAsked && call.attempts > 0 && typeof call.arguments === "object";
}
