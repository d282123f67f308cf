import { sharedPromises } from "../../base/async/shared-promises.ts";
import type { StepRecord } from "../../contracts/generated/step-record.ts";
import type { EvaluationRecord } from "../../contracts/run.ts";
import { stepStage } from "../../contracts/stages.ts";
import type { TrackedEnding } from "../../contracts/tracker.ts";
import { ownEvaluations } from "../../run/folder/evaluations.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { recordedSteps } from "../../run/folder/recorded-steps.ts";
import { firstVersion } from "../../run/versions/first-version.ts";
import { toldTracker } from "./told-tracker.ts";
import { evaluationDetails, stepDetails, type TrackedDetails } from "./tracked-details.ts";
import { evaluationValues, stepValues } from "./tracked-values.ts";
import { type Told, trackerLink } from "./tracker-link.ts";

/** The running trackers of a run. */
export interface RunTrackers {
  tellStep(record: StepRecord): void;
  tellEvaluation(record: EvaluationRecord): void;
  /**
   * Sends recorded entries that were not sent yet, and closes the trackers, within some seconds. Returns how many
   * entries were not sent.
   */
  close(ending: TrackedEnding): Promise<number>;
}

/**
 * Sends a run's steps and evaluations to its trackers: first those that they have not received yet, then each as it
 * ends. `note` reports a tracker that fails. It is retried, and the run does not wait for it.
 */
export async function runTrackers(run: OpenRun, note: (text: string) => void): Promise<RunTrackers> {
  const trackers = (run.plan.trackers ?? []).map((plugin, index) =>
    toldTracker(plugin.name, trackerLink(run, plugin, index), note),
  );
  const tell = (told: Told) => {
    for (const tracker of trackers) tracker.tell(told);
  };
  const tellRecorded = async () => {
    if (trackers.length === 0) return;
    for (const told of await recordedSoFar(run)) tell(told);
  };
  await tellRecorded();
  return {
    tellStep: (record) => tell(toldStep(run, record)),
    tellEvaluation: (record) => tell(toldEvaluation(run, record)),
    close: async (ending) => {
      await tellRecorded();
      const untold = await Promise.all(trackers.map((tracker) => tracker.close(ending)));
      return untold.reduce((sum, one) => sum + one, 0);
    },
  };
}

/** The steps and own evaluations of a run. An evaluation follows the step that made its version. */
async function recordedSoFar(run: OpenRun): Promise<Told[]> {
  const steps = await recordedSteps(run.store);
  const newest = steps.at(-1)?.policyVersion ?? firstVersion(run.plan);
  const evaluations = await ownEvaluations(run, newest);
  const all = [
    ...steps.map((record) => toldStep(run, record)),
    ...evaluations.map((record) => toldEvaluation(run, record)),
  ];
  return all.toSorted((one, other) => one.step - other.step);
}

function toldStep(run: OpenRun, record: StepRecord): Told {
  const { step } = record;
  return {
    name: stepStage(step),
    step,
    values: stepValues(record),
    details: readOnce(() => stepDetails(run, step)),
  };
}

function toldEvaluation(run: OpenRun, record: EvaluationRecord): Told {
  const { name, step } = record;
  return {
    name,
    step,
    values: evaluationValues(record),
    details: readOnce(() => evaluationDetails(run, record)),
  };
}

/** All trackers, and all attempts of a call that takes too long, wait for the same read. A failed one is repeated. */
function readOnce(read: () => Promise<TrackedDetails>): Told["details"] {
  const details = sharedPromises<TrackedDetails>();
  return () => details.get("details", read);
}
