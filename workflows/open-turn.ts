import type { Turn } from "../src/contracts/generated/trajectory.ts";
import type { Outcome } from "../src/contracts/trajectory.ts";
import { loopContext } from "./loop-context.ts";
import { allSettled, beginTurn, type Parts } from "./turn.ts";

/** A turn in progress. */
export interface OpenTurn {
  number: number;
  /**
   * Has the agent loop take it. Returns the loop's outcome, or "time-limit" once the turn has used up its time. If the
   * loop fails, everything it began is cancelled and awaited.
   */
  take(): Promise<Outcome | "continue">;
  /** Whether a tool reported that the task is done. */
  isDone(): boolean;
  /** Adds the turn to the trajectory's state and returns its record. */
  close(): Turn;
}

/**
 * Opens the turn that follows the trajectory's state. It may work for `bound` milliseconds; default: no limit.
 * `onChange` is called after its action and after every observation.
 */
export function openTurn(
  parts: Parts,
  bound: number | undefined,
  onChange: (record: Turn) => void,
): OpenTurn {
  const turn = beginTurn(parts, bound, onChange);
  const { number, time, scope, state } = turn;
  const context = loopContext(turn);

  async function take(): Promise<Outcome | "continue"> {
    try {
      const outcome = await scope.run(() => parts.loop.take(context));
      if (!time.isOver()) return outcome;
    } catch (error) {
      if (state.underWay.size > 0) {
        scope.cancel();
        await allSettled(turn);
      }
      if (!time.isOver()) throw error;
    }
    await allSettled(turn);
    return "time-limit";
  }

  return {
    number,
    take,
    isDone: () => state.record.toolCalls.some(({ done = false }) => done),
    close: () => {
      parts.trajectory.apply({
        type: "turn-ended",
        turn: number,
        ended: {
          record: state.record,
          calls: state.slots.taken(),
          workedMs: time.worked(),
          loopState: context.state,
          invalidLimit: parts.input.limits.invalidCalls,
        },
      });
      return state.record;
    },
  };
}
