import { defineToolset } from "everturn/plugin";
import { z } from "zod";

/** Notes of a trajectory: two functions that share them. */
export default defineToolset({
  name: "board",
  recovery: "replay",
  config: z.object({ most: z.number().int().default(9) }),
  create: (): { notes: string[] } => ({ notes: [] }),
  functions: {
    pin: {
      description: "Pins a note to the board.",
      parameters: z.object({ note: z.string().refine((note) => note !== "", "a note is not empty") }),
      execute({ note }, { config }, board) {
        if (board.notes.length >= config.most) return { invalid: `the board takes ${config.most} notes` };
        board.notes.push(note);
        return String(board.notes.length);
      },
    },
    read: {
      description: "Reads the notes from one on, which is 1 if nothing is said.",
      parameters: {
        type: "object",
        additionalProperties: false,
        properties: { from: { type: "integer", minimum: 1 } },
      },
      execute: ({ from = 1 }, _, board) => board.notes.slice(from - 1).join(", "),
    },
  },
});
