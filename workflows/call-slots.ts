import type { Call, Turn } from "../src/contracts/generated/trajectory.ts";

/** The places of a turn's tool calls. */
export interface Slots {
  /** Takes the next place; `fill` records what came of the call. */
  take(): { call: number; fill(record: Call): void };
  /** How many have been taken. */
  taken(): number;
}

/** Calls made in parallel keep their order in `turn`, whichever is answered first; those unanswered are not in it. */
export function callSlots(turn: Turn): Slots {
  const answers: (Call | undefined)[] = [];
  return {
    take: () => {
      const call = answers.push(undefined) - 1;
      const fill = (record: Call) => {
        answers[call] = record;
        turn.toolCalls = answers.filter((answer) => answer !== undefined);
      };
      return { call, fill };
    },
    taken: () => answers.length,
  };
}
