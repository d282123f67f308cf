// A trainer of benchmarks/data-parallel.ts: takes the steps that it receives, and answers with their metrics.
// Argument: the folder of the runs.

import { trainStep } from "../../activities/train-step.ts";
import type { TrainStepInput } from "../../src/contracts/activities.ts";
import { openRuns } from "../../src/run/folder/open-runs.ts";
import { trainerWorker } from "../../src/work/workers/trainer-worker.ts";

const worker = trainerWorker(openRuns(process.argv[2] ?? "."));
const train = trainStep(worker);
const { signal } = new AbortController();

process.on("message", async (input: TrainStepInput) => {
  process.send?.(await train(input, signal, () => {}));
});
