import type { Turn } from "../../contracts/generated/trajectory.ts";
import type { Message } from "../../contracts/message.ts";
import type { LiveStatus, Transcript } from "../../contracts/orders.ts";
import type { TrajectoryProgress } from "../../contracts/trajectory.ts";
import { cutTurn } from "./shown-turns.ts";

/** The part of a transcript that describes the trajectory itself rather than its orders. */
export type LiveView = Omit<Transcript, Exclude<keyof LiveStatus, "turn" | "tokens">>;

/** The trajectory as orders and their answers describe it. */
export function liveView(
  prompt: Message[],
  { turns, tokens, head, shown }: TrajectoryProgress,
  current: Turn | undefined,
): LiveView {
  const newest = current === undefined ? shown.newest : [...shown.newest, cutTurn(current)];
  const firstOf = turns - newest.length + 1;
  const numbered = [
    ...shown.first.map((turn, index) => ({ number: index + 1, ...turn })),
    ...newest.map((turn, index) => ({ number: firstOf + index, ...turn })),
  ];
  return { turn: turns, tokens, head, prompt, turns: numbered };
}
