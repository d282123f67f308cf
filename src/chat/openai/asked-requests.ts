import type { ModelAnswer } from "./model-request.ts";

/** A request that waits for its answer. */
export interface AskedRequest {
  answer: Promise<ModelAnswer>;
  /** The client has the answer: the same request, once more, wants another one. */
  delivered(): void;
  /** The client went away without it: the same request, once more, is the same one. */
  left(): void;
}

/** What the clients of a session asked, by requests' keys. */
export interface AskedRequests {
  /**
   * The answer of a request: of one whose client went away, of which this is the repetition, or of a new one. `begin` is told which
   * occurrence of its key it is, from 1.
   */
  ask(key: string, begin: (occurrence: number) => Promise<ModelAnswer>): AskedRequest;
}

interface Asked {
  occurrence: number;
  answer: Promise<ModelAnswer>;
  isAwaited: boolean;
}

interface Key {
  /** Asked, and not delivered. */
  open: Set<Asked>;
  /** Occurrences that are delivered. */
  done: Set<number>;
}

/** How many keys of requests that have their answers are remembered. */
const remembered = 10_000;

/**
 * Tells repetitions from new requests. Clients repeat a request byte for byte after their connection broke, without saying so; two
 * sub-agents may ask the same at once, and an agent may ask again what was answered.
 */
export function askedRequests(): AskedRequests {
  const keys = new Map<string, Key>();

  function keyOf(name: string): Key {
    const key = keys.get(name) ?? { open: new Set(), done: new Set() };
    keys.delete(name);
    keys.set(name, key); // the one that was asked last stands last
    for (const [oldest, { open }] of keys) {
      if (keys.size <= remembered) break;
      if (open.size === 0) keys.delete(oldest);
    }
    return key;
  }

  return {
    ask: (name, begin) => {
      const { open, done } = keyOf(name);
      let asked = [...open].find(({ isAwaited }) => !isAwaited);
      if (asked === undefined) {
        const taken = new Set([...done, ...[...open].map(({ occurrence }) => occurrence)]);
        let occurrence = 1;
        while (taken.has(occurrence)) occurrence++;
        asked = { occurrence, answer: begin(occurrence), isAwaited: true };
        const begun = asked;
        open.add(begun);
        begun.answer.catch(() => open.delete(begun)); // it may be asked again, as the same occurrence
      }
      const own = asked;
      own.isAwaited = true;
      return {
        answer: own.answer,
        delivered: () => {
          if (open.delete(own)) done.add(own.occurrence);
        },
        left: () => {
          own.isAwaited = false;
        },
      };
    },
  };
}
