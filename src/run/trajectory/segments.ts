import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { Segment } from "../../contracts/generated/segment.ts";
import type { RecordedTurn } from "../../contracts/recorded-turn.ts";
import type { SegmentRef } from "../../contracts/trajectory.ts";
import { segmentRef } from "../projections/segment-ref.ts";
import type { SegmentRows } from "../projections/training-trajectory.ts";
import { type TrajectoryName, turnKey } from "../store/keys.ts";
import type { Store } from "../store/store.ts";

/** The recorded turns of a trajectory from the first, until one is absent. */
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

/** The rows of a trajectory whose last turn ends with `head`; none for null. Throws SEGMENT_MISSING. */
export async function readRows(
  store: Pick<Store, "read">,
  place: TrajectoryName,
  head: SegmentRef | null,
): Promise<SegmentRows> {
  const { known, heads } = await turnsUpTo(store, place, head);
  const followed = new Set([...known.values()].map(({ previous }) => previous));
  return {
    rows: heads.filter((ref) => !followed.has(ref)).map((end) => chain(known, place, end)),
    actions: heads.flatMap((ref) => known.get(ref) ?? []),
  };
}

/**
 * All segments of a trajectory up to `head`, the first one first; none for null. It follows the segments' names
 * backward, because a loop may return to an earlier turn. Throws SEGMENT_MISSING.
 */
export async function readSegments(
  store: Pick<Store, "read">,
  place: TrajectoryName,
  head: SegmentRef | null,
): Promise<Segment[]> {
  const { known } = await turnsUpTo(store, place, head);
  return head === null ? [] : chain(known, place, head);
}

/**
 * The segments of the turns up to the one that ends with `head`, by name, and the names of their actions in order.
 */
async function turnsUpTo(
  store: Pick<Store, "read">,
  place: TrajectoryName,
  head: SegmentRef | null,
): Promise<{ known: Map<SegmentRef, Segment>; heads: SegmentRef[] }> {
  const known = new Map<SegmentRef, Segment>();
  const heads: SegmentRef[] = [];
  if (head === null) return { known, heads };
  for await (const { appended, action } of recordedTurns(store, place)) {
    known.set(segmentRef(appended), appended);
    const ref = segmentRef(action);
    known.set(ref, action);
    heads.push(ref);
    if (ref === head) return { known, heads };
  }
  throw missing(head, place);
}

function chain(known: ReadonlyMap<SegmentRef, Segment>, place: TrajectoryName, head: SegmentRef): Segment[] {
  const segments: Segment[] = [];
  for (let ref: SegmentRef | null = head; ref !== null; ) {
    const segment = known.get(ref);
    if (segment === undefined) throw missing(ref, place);
    segments.push(segment);
    ref = segment.previous;
  }
  return segments.reverse();
}

function missing(ref: SegmentRef, { stage, task, sample }: TrajectoryName): EverturnError {
  return new EverturnError("SEGMENT_MISSING", { ref, trajectory: `${stage}/${task}/${sample}` });
}
