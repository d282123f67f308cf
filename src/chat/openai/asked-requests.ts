import type { ModelAnswer } from "./model-request.ts";

/** A request that waits for its answer. */
export interface AskedRequest {
  answer: Promise<ModelAnswer>;
  /** Notes that the client has the answer. The same request asks for another one from then on. */
  delivered(): void;
  /** Notes that the client disconnected without the answer. The same request then continues this one. */
  left(): void;
}

/** The requests of a session's clients, by key. */
export interface AskedRequests {
  /**
   * The answer to a request. It continues one whose client disconnected, or begins a new one. `begin` receives the
   * number of this occurrence of the key, from 1.
   */
  ask(key: string, begin: (occurrence: number) => Promise<ModelAnswer>): AskedRequest;
}

interface Asked {
  occurrence: number;
  answer: Promise<ModelAnswer>;
  isAwaited: boolean;
}

interface Key {
  /** Requests without a delivered answer. */
  open: Set<Asked>;
  /** Occurrences whose answers were delivered. */
  done: Set<number>;
}

/** How many keys of answered requests are remembered. */
const remembered = 10_000;

/**
 * Distinguishes repetitions from new requests. After a broken connection, clients silently repeat a request byte for
 * byte. But two sub-agents may also send the same request at once, and an agent may repeat a request that was
 * answered.
 */
export function askedRequests(): AskedRequests {
  const keys = new Map<string, Key>();

  function keyOf(name: string): Key {
    const key = keys.get(name) ?? { open: new Set(), done: new Set() };
    keys.delete(name);
    keys.set(name, key); // moves the latest one to the end
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
        const taken = new Set([...done, ...[...open].map((one) => one.occurrence)]);
        let occurrence = 1;
        while (taken.has(occurrence)) occurrence++;
        asked = { occurrence, answer: begin(occurrence), isAwaited: true };
        const begun = asked;
        open.add(begun);
        begun.answer.catch(() => open.delete(begun)); // it may be repeated as the same occurrence
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
