import { ActivityFailure, ApplicationFailure } from "@temporalio/workflow";
import type { ErrorCode } from "../src/base/errors/table.ts";
import { failure } from "./failure.ts";

/** An activity's report of its time, in seconds. */
interface Timed {
  seconds: number;
  /** The seconds of actual work. Default: all of them. */
  workSeconds?: number;
}

/**
 * The work time of a turn, as the activities for its generation and its calls measured it. Parallel calls
 * count as long as the longest. Waiting in queues, for an absent worker or for a person does not count.
 */
export interface WorkTime {
  /** Milliseconds so far. */
  worked(): number;
  /** The turn has used up its time. */
  isOver(): boolean;
  /** Runs `work`, an activity that may take `limit` milliseconds. Throws TIME_LIMIT_REACHED. */
  within<Result extends Timed>(
    what: string,
    work: (limit: number | undefined) => Promise<Result>,
  ): Promise<Result>;
}

const timeUp = "TIME_LIMIT_REACHED" satisfies ErrorCode;

/** Measures a turn that may take `bound` ms. Calls `onOver` when it has used them up. */
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
