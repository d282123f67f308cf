import { hash } from "node:crypto";
import type { Segment } from "../contracts/generated/segment.ts";
import type { RecordedTurn } from "../contracts/recorded-turn.ts";
import type { SegmentRef } from "../contracts/trajectory.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { type TrajectoryName, turnKey } from "../store/keys.ts";
import type { Store } from "../store/store.ts";

/** The name of a segment: the SHA-256 of its content, which names the one before it. */
export function segmentRef(segment: Segment): SegmentRef {
  return hash("sha256", JSON.stringify(segment));
}

/** The recorded turns of a trajectory, the first one first, until one is absent. */
export async function* recordedTurns(
  store: Pick<Store, "read">,
  place: TrajectoryName,
): AsyncGenerator<RecordedTurn> {
  for (let turn = 1; ; turn++) {
    const recorded = await store.read(turnKey(place, turn));
    if (recorded === undefined) return;
    yield recorded;
  }
}

/**
 * All segments of a trajectory up to `head`, the first one first; none for null. They are followed by their names among
 * its turns: a loop may go back to an earlier one. Throws SEGMENT_MISSING.
 */
export async function readSegments(
  store: Pick<Store, "read">,
  place: TrajectoryName,
  head: SegmentRef | null,
): Promise<Segment[]> {
  const known = new Map<SegmentRef, Segment>();
  if (head !== null) {
    for await (const { appended, action } of recordedTurns(store, place)) {
      known.set(segmentRef(appended), appended);
      const ref = segmentRef(action);
      known.set(ref, action);
      if (ref === head) break;
    }
  }
  const segments: Segment[] = [];
  for (let ref = head; ref !== null; ) {
    const segment = known.get(ref);
    if (segment === undefined) {
      const { stage, task, sample } = place;
      throw new EverturnError("SEGMENT_MISSING", { ref, trajectory: `${stage}/${task}/${sample}` });
    }
    segments.push(segment);
    ref = segment.previous;
  }
  return segments.reverse();
}
