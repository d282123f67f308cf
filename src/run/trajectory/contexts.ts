import type { SegmentRef } from "../../contracts/trajectory.ts";
import type { TrajectoryName } from "../store/keys.ts";
import type { Store } from "../store/store.ts";
import { readSegments } from "./segments.ts";

/** The tokens of trajectories in progress, so that a turn need not collect those of all earlier turns. */
export interface Contexts {
  /** All tokens of a trajectory up to `head`, read from the store if they are not cached; none for null. */
  get(store: Pick<Store, "read">, place: TrajectoryName, head: SegmentRef | null): Promise<number[]>;
  /** Caches the tokens up to `head`, and drops those of `previous`, which it follows. */
  set(head: SegmentRef, tokens: number[], previous: SegmentRef | null): void;
}

/**
 * The most tokens cached for all trajectories together: at most 128 MiB. The least recently used are evicted first.
 */
const tokenLimit = 2 ** 24;

/** An empty cache of contexts. */
export function openContexts(limit: number = tokenLimit): Contexts {
  /** By recency of use, the latest last. */
  const known = new Map<SegmentRef, number[]>();
  let held = 0;

  function forget(head: SegmentRef): void {
    held -= known.get(head)?.length ?? 0;
    known.delete(head);
  }

  function keep(head: SegmentRef, tokens: number[]): void {
    forget(head);
    known.set(head, tokens);
    held += tokens.length;
    for (const oldest of known.keys()) {
      if (held <= limit) return;
      forget(oldest);
    }
  }

  return {
    get: async (store, place, head) => {
      if (head === null) return [];
      const tokens =
        known.get(head) ?? (await readSegments(store, place, head)).flatMap((segment) => segment.tokens);
      keep(head, tokens);
      return tokens;
    },
    set: (head, tokens, previous) => {
      if (previous !== null) forget(previous);
      keep(head, tokens);
    },
  };
}
