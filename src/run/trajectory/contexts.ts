import type { Segment } from "../../contracts/generated/segment.ts";
import type { PlacedImage } from "../../contracts/image-tokens.ts";
import type { SegmentRef } from "../../contracts/trajectory.ts";
import { imagesOf } from "../projections/images-of.ts";
import type { TrajectoryName } from "../store/keys.ts";
import type { Store } from "../store/store.ts";
import { readSegments } from "./segments.ts";

/** The tokens of a trajectory, and the places of its images among them. */
export interface Context {
  tokens: number[];
  images: PlacedImage[];
}

/** The tokens of trajectories in progress, so that a turn need not collect those of all earlier turns. */
export interface Contexts {
  /** All tokens of a trajectory up to `head`, read from the store if they are not cached; none for null. */
  get(store: Pick<Store, "read">, place: TrajectoryName, head: SegmentRef | null): Promise<Context>;
  /** Caches the tokens up to `head`, and drops those of `previous`, which it follows. */
  set(head: SegmentRef, context: Context, previous: SegmentRef | null): void;
}

/**
 * The most tokens cached for all trajectories together: at most 128 MiB. The least recently used are evicted first.
 */
const tokenLimit = 2 ** 24;

/** An empty cache of contexts. */
export function openContexts(limit: number = tokenLimit): Contexts {
  /** By recency of use, the latest last. */
  const known = new Map<SegmentRef, Context>();
  let held = 0;

  function forget(head: SegmentRef): void {
    held -= known.get(head)?.tokens.length ?? 0;
    known.delete(head);
  }

  function keep(head: SegmentRef, context: Context): void {
    forget(head);
    known.set(head, context);
    held += context.tokens.length;
    for (const oldest of known.keys()) {
      if (held <= limit) return;
      forget(oldest);
    }
  }

  return {
    get: async (store, place, head) => {
      if (head === null) return { tokens: [], images: [] };
      const context = known.get(head) ?? joined(await readSegments(store, place, head));
      keep(head, context);
      return context;
    },
    set: (head, context, previous) => {
      if (previous !== null) forget(previous);
      keep(head, context);
    },
  };
}

function joined(segments: readonly Segment[]): Context {
  return { tokens: segments.flatMap(({ tokens }) => tokens), images: imagesOf(segments) };
}
