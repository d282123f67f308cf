import type { GivenTurn } from "../../chat/openai/given-turn.ts";
import type { PlacedImage } from "../../contracts/image-tokens.ts";

/** A turn as generated. */
export interface Kept extends GivenTurn {
  /** The tokens of its action, and of everything between that and the turn before. */
  tokens: number[];
  /** The images among those tokens. */
  images: PlacedImage[];
  /** The number of calls in the row up to this turn's. */
  calls: number;
  /** The model's own ids of its calls, by the ids that the client received. */
  ownIds: ReadonlyMap<string, string>;
  /** Its action was cut at its limit and lacks its end, so nothing can continue it. */
  isCut: boolean;
}

/** Turns of one session, in memory. */
export interface SessionMemory {
  all(): readonly Kept[];
  /** A turn and its predecessors, beginning with the row's first. */
  chain(number: number): Kept[];
  add(turn: Omit<Kept, "number">): void;
}

/** Keeps at most `limit` turns. Beyond that, the rows that were continued least recently are dropped. */
export function keptTurns(limit: number): SessionMemory {
  /** Rows by their first turn, the most recently used last. */
  const rows = new Map<number, Map<number, Kept>>();
  let next = 0;
  let count = 0;

  return {
    all: () => [...rows.values()].flatMap((row) => [...row.values()]),
    chain: (number) => {
      const [, row] = rowWith(number);
      const chain: Kept[] = [];
      for (let turn = row?.get(number); turn !== undefined; ) {
        chain.unshift(turn);
        turn = turn.parent === null ? undefined : row?.get(turn.parent);
      }
      return chain;
    },
    add: (given) => {
      const turn = { ...given, number: next++ };
      const [first, row] = given.parent === null ? [] : rowWith(given.parent);
      // If the row was dropped while the action was generated, nothing can continue it.
      if (given.parent !== null && (first === undefined || row === undefined)) return;
      const name = first ?? turn.number;
      rows.delete(name);
      rows.set(name, (row ?? new Map<number, Kept>()).set(turn.number, turn));
      count++;
      for (const [oldest, { size }] of rows) {
        if (count <= limit || rows.size === 1) break;
        rows.delete(oldest);
        count -= size;
      }
    },
  };

  function rowWith(number: number): [first: number, row: Map<number, Kept>] | [] {
    return [...rows].find(([, row]) => row.has(number)) ?? [];
  }
}
