import type { Call, Trajectory, Turn } from "../../contracts/generated/trajectory.ts";
import type { GroupMember } from "../../contracts/reward.ts";

/** The policy's calls in a turn, without those that its loop made itself. */
export function policyCalls({ toolCalls }: Pick<Turn, "toolCalls">): Call[] {
  return toolCalls.filter(({ byLoop = false }) => !byLoop);
}

/** Turns as rewards see them: only with the policy's calls. */
export function scoredTurns(turns: readonly Turn[]): Turn[] {
  return turns.map((turn) => ({ ...turn, toolCalls: policyCalls(turn) }));
}

/** A trajectory that its own rewards have scored, in the form that group rewards receive. */
export function groupMember({
  sample,
  turns,
  outcome,
  answer = "",
  reward,
  success,
  metrics = {},
}: Trajectory): GroupMember {
  return { sample, turns: scoredTurns(turns), outcome, answer, reward, success, metrics };
}
