import { defined } from "../src/base/records/defined.ts";
import type { TrainExamplesInput } from "../src/contracts/activities.ts";
import type { ExampleMetrics, TrainStepResult } from "../src/contracts/ledger.ts";
import type { Report } from "../src/control/temporal/durable.ts";
import { exampleStep } from "../src/plan/demonstrations/example-step.ts";
import { commitTree } from "../src/run/store/commit-tree.ts";
import { trainedExamplesKey } from "../src/run/store/keys.ts";
import { saved, type TrainerWorker, trainerStart } from "../src/work/workers/trainer-worker.ts";

/**
 * Takes a step on demonstrations or pairs: its updates, the measurement of held-out examples after them, and
 * the new version. The step's record commits the version. A committed step is not repeated. Throws
 * ATTEMPT_SUPERSEDED, TRAINER_LACKS.
 */
export function trainExamples(worker: TrainerWorker) {
  return async (
    { run, step, policyVersion }: TrainExamplesInput,
    _: AbortSignal,
    report: Report,
  ): Promise<TrainStepResult<ExampleMetrics>> => {
    const opened = await worker.openRun(run);
    const { store, plan } = opened;
    const key = trainedExamplesKey(step);
    const recorded = await store.readTree(key);
    if (recorded !== undefined) return resultOf(recorded.value);
    const started = performance.now();
    const next = policyVersion + 1;
    return worker.train({
      run,
      from: `policy ${policyVersion}`,
      to: `policy ${next}`,
      start: trainerStart(plan, policyVersion),
      work: async (trainer) => {
        const metrics = await exampleStep(trainer, opened, await worker.examples(run), step, report);
        report("the next version is saved");
        const { value } = await commitTree(store, key, saved(trainer), () =>
          defined({
            step,
            from: policyVersion,
            policyVersion: next,
            metrics,
            trajectories: [],
            leftOut: [],
            server: trainer.serverStep?.(),
            seconds: (performance.now() - started) / 1000,
          }),
        );
        return resultOf(value);
      },
    });
  };
}

function resultOf({ policyVersion, metrics, seconds }: TrainStepResult<ExampleMetrics>) {
  return { policyVersion, metrics, seconds };
}
