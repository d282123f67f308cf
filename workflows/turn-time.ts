import { ActivityFailure, ApplicationFailure } from "@temporalio/workflow";
import type { ErrorCode } from "../src/base/errors/table.ts";
import { failure } from "./failure.ts";

/** What an activity says of its time, in seconds. */
interface Timed {
  seconds: number;
  /** Those in which its work was done; all of them if absent. */
  workSeconds?: number;
}

/**
 * The time of a turn: what its generation and its calls took, as their activities measured it, those made at once as
 * long as the longest. Nothing else passes here: no queue, no worker that is away, no person who thinks.
 */
export interface WorkTime {
  /** Milliseconds so far. */
  worked(): number;
  /** The turn has taken all that it may. */
  isOver(): boolean;
  /** Does `work`, an activity that may take the milliseconds that it is told. Throws TIME_LIMIT_REACHED. */
  within<Result extends Timed>(
    what: string,
    work: (limit: number | undefined) => Promise<Result>,
  ): Promise<Result>;
}

const timeUp = "TIME_LIMIT_REACHED" satisfies ErrorCode;

/** The time of a turn that may take `bound` ms; `onOver` is called when it has. */
export function turnTime(bound: number | undefined, onOver: () => void): WorkTime {
  let worked = 0;
  let isOver = false;

  function end(): void {
    isOver = true;
    onOver();
  }

  return {
    worked: () => worked,
    isOver: () => isOver,
    within: async (what, work) => {
      const begun = worked;
      const left = bound === undefined ? undefined : bound - begun;
      if (left !== undefined && left <= 0) {
        end();
        throw failure(timeUp, { what, seconds: 0 });
      }
      try {
        const result = await work(left);
        worked = Math.max(worked, begun + (result.workSeconds ?? result.seconds) * 1000);
        return result;
      } catch (error) {
        if (isTimeUp(error)) end();
        throw error;
      }
    },
  };
}

function isTimeUp(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === timeUp;
}
