import type { Call, Turn } from "../../contracts/generated/trajectory.ts";

/** The policy's calls in a turn, without those that its loop made itself. */
export function policyCalls({ toolCalls }: Pick<Turn, "toolCalls">): Call[] {
  return toolCalls.filter(({ byLoop = false }) => !byLoop);
}

/** Turns as rewards see them: only with the policy's calls. */
export function scoredTurns(turns: readonly Turn[]): Turn[] {
  return turns.map((turn) => ({ ...turn, toolCalls: policyCalls(turn) }));
}
