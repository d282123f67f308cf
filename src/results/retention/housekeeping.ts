import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { tellNotice } from "../../base/processes/notice.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { stepPrefix } from "../../run/store/keys.ts";
import { foldSteps } from "./fold-steps.ts";
import { freeRecords } from "./free-records.ts";

/** What a worker does for retention beside its activities: nothing waits for it but the worker's end. */
export interface Housekeeping {
  /** Puts the trajectories of a recorded step into its file, then lets go single records that are too old, and what killed writers left. */
  add(run: OpenRun, step: number): void;
  /** When all of that is done, or has failed. */
  done(): Promise<void>;
}

/**
 * One step after the other. It is no activity: all of it follows from the store, can be repeated, and stands in no one's way
 * if it fails. Then the step's records stay as they are, which is told, and the next step, or `everturn prune`, tries again.
 */
export function housekeeping(): Housekeeping {
  let last = Promise.resolve();

  async function keep(run: OpenRun, step: number, before: Promise<void>): Promise<void> {
    await before;
    try {
      const folded = await foldSteps(run, step);
      for (const one of new Set([...folded, step])) {
        await run.store.sweep(stepPrefix(one)); // of those who trained it or folded it, and were killed
      }
      await freeRecords(run, step - run.plan.retention.singleRecords);
    } catch (error) {
      const reason = messageOf(error);
      const { code, message } = new EverturnError("STEP_NOT_FOLDED", { step, reason });
      tellNotice({ code, notice: message });
    }
  }

  return {
    add: (run, step) => {
      last = keep(run, step, last);
    },
    done: () => last,
  };
}
