import type { Call, Turn } from "../../contracts/generated/trajectory.ts";

/** The calls that the policy made in a turn, without those that its loop made for itself. */
export function policyCalls({ toolCalls }: Pick<Turn, "toolCalls">): Call[] {
  return toolCalls.filter(({ byLoop = false }) => !byLoop);
}

/** Turns as rewards see them: with the policy's calls alone. */
export function scoredTurns(turns: readonly Turn[]): Turn[] {
  return turns.map((turn) => ({ ...turn, toolCalls: policyCalls(turn) }));
}
