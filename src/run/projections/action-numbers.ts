import type { StepRecord } from "../../contracts/generated/step-record.ts";
import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import { policyCalls } from "./policy-calls.ts";

/** How the actions of a trajectory and their tool calls turned out. Calls of the loop do not count. */
export interface ActionCounts {
  actions: number;
  /** Actions that a limit cut. */
  cut: number;
  calls: number;
  valid: number;
  unreadable: number;
}

/** The numbers of steps and evaluations that follow from these counts. */
export type ActionNumbers = Required<
  Pick<StepRecord, "toolCallRate" | "validCallRate" | "unreadableCallRate" | "cutActionShare">
>;

/** Counts the actions and calls of a trajectory. */
export function countActions({ turns, metrics }: Pick<Trajectory, "turns" | "metrics">): ActionCounts {
  const calls = turns.flatMap(policyCalls);
  return {
    actions: turns.length,
    cut: metrics?.cutActions ?? 0,
    calls: calls.length,
    valid: calls.filter(({ valid }) => valid).length,
    unreadable: calls.filter((call) => typeof call.arguments === "string").length,
  };
}

/** The numbers of a step or an evaluation, from the counts of its finished trajectories. */
export function actionNumbers(counts: readonly ActionCounts[]): ActionNumbers {
  const total = (key: keyof ActionCounts) => counts.reduce((sum, count) => sum + count[key], 0);
  const calls = total("calls");
  const callers = counts.filter((count) => count.calls > count.unreadable).length;
  return {
    toolCallRate: share(callers, counts.length),
    validCallRate: calls === 0 ? 1 : total("valid") / calls,
    unreadableCallRate: share(total("unreadable"), calls),
    cutActionShare: share(total("cut"), total("actions")),
  };
}

function share(count: number, of: number): number {
  return of === 0 ? 0 : count / of;
}
