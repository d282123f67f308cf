import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { tellNotice } from "../../base/processes/notice.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { stepPrefix } from "../../run/store/keys.ts";
import { firstVersion } from "../../run/versions/first-version.ts";
import { deleteCheckpoints } from "./delete-checkpoints.ts";
import { foldSteps } from "./fold-steps.ts";
import { freeRecords } from "./free-records.ts";
import { removePortions } from "./remove-portions.ts";

/** The versions before the newest whose checkpoints on a training server are deleted. Failures leave some to a later step. */
const lookedBack = 8;

/** A worker's retention work in addition to its activities. Only the worker's end waits for it. */
export interface Housekeeping {
  /**
   * Puts the trajectories of a recorded step into its file, then removes single records that are too old, leftovers of
   * killed writers, portions that trainers shared, and checkpoints of freed versions on a training server.
   */
  add(run: OpenRun, step: number): void;
  /** Resolves when all of that has finished or failed. */
  done(): Promise<void>;
}

/**
 * Processes one step after the other. It is not an activity, because it depends only on the store, can be repeated,
 * and blocks nothing if it fails. In that case it reports the failure, the step's records stay, and the next step or
 * `everturn prune` tries again.
 */
export function housekeeping(): Housekeeping {
  let last = Promise.resolve();

  async function keep(run: OpenRun, step: number, before: Promise<void>): Promise<void> {
    await before;
    await reported(step, async () => {
      const folded = await foldSteps(run, step);
      for (const one of new Set([...folded, step])) {
        await run.store.sweep(stepPrefix(one)); // leftovers of killed attempts to train or fold it
      }
      await freeRecords(run, step - run.plan.retention.singleRecords);
    });
    // A late trainer may have added some to the step before.
    await reported(step, () => removePortions(run, [step - 1, step]));
    try {
      await deleteCheckpoints(run, { last: step, from: firstVersion(run.plan) + step - lookedBack });
    } catch (error) {
      const isKnown = error instanceof EverturnError;
      tell(isKnown ? error : new EverturnError("CHECKPOINTS_NOT_DELETED", { reason: messageOf(error) }));
    }
  }

  return {
    add: (run, step) => {
      last = keep(run, step, last);
    },
    done: () => last,
  };
}

/** Does work on a step, and reports its failure. */
async function reported(step: number, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    tell(new EverturnError("STEP_NOT_FOLDED", { step, reason: messageOf(error) }));
  }
}

function tell({ code, message }: EverturnError): void {
  tellNotice({ code, notice: message });
}
