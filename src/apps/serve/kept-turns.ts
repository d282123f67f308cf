import type { GivenTurn } from "../../chat/openai/given-turn.ts";

/** A turn as it was generated. */
export interface Kept extends GivenTurn {
  /** Of what came before it since the turn that it goes on after, and of its action. */
  tokens: number[];
  /** Calls of the row up to this turn's. */
  calls: number;
  /** The model's own ids of its calls, by those that the client was given. */
  ownIds: ReadonlyMap<string, string>;
  /** Its action was cut at its limit, and lacks its end: nothing can go on after it. */
  isCut: boolean;
}

/** Turns of one session, in memory. */
export interface SessionMemory {
  all(): readonly Kept[];
  /** A turn and those before it in its row, first the row's first. */
  chain(number: number): Kept[];
  add(turn: Omit<Kept, "number">): void;
}

/** Keeps so many turns; of more, the rows go that were not gone on with for longest. */
export function keptTurns(limit: number): SessionMemory {
  /** Rows by their first turn, the one that was used last stands last. */
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
      // The row may have gone while the action was generated: then nothing can go on after it.
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
