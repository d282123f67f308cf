import type { Call, Turn } from "../src/contracts/generated/trajectory.ts";

/** The places of a turn's tool calls. */
export interface Slots {
  /** Takes the next place. `fill` records the call's result. */
  take(): { call: number; fill(record: Call): void };
  /** The number of places taken. */
  taken(): number;
}

/** Keeps parallel calls in order in `turn`, whichever is answered first. `turn` omits unanswered calls. */
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
