import { setHandler } from "@temporalio/workflow";
import type { SelectedTask } from "../src/contracts/activities.ts";
import type { StepInput } from "../src/contracts/run.ts";
import type { TrajectoryResult } from "../src/contracts/trajectory.ts";
import { type SampledTrajectory, withVariance } from "./group-variance.ts";
import { stageProgress } from "./progress.ts";
import { runTrajectories } from "./run-trajectories.ts";
import { schedule } from "./schedule.ts";
import { stepStage } from "./stages.ts";
import { samplesOf, trajectoryInput } from "./trajectory-input.ts";

/** A step's trajectories. */
export interface SampledBatch {
  /** All of them, those left out included. */
  results: TrajectoryResult[];
  /** Those that the step trains on. */
  batch: SampledTrajectory[];
  /** Groups that train nothing because their rewards are all the same; undefined without dynamic sampling. */
  groupsLeftOut?: number;
}

/**
 * Runs a step's trajectories. With dynamic sampling (DAPO, arXiv:2503.14476, section 3.2) tasks whose rewards are all
 * the same are replaced by others, up to `maxRounds` rounds; then the step trains on what it has.
 */
export async function sampleBatch(input: StepInput): Promise<SampledBatch> {
  const { run, step, settings, policyVersion, queues } = input;
  const { groupSize, concurrency, dynamicSampling } = settings;
  const place = { run, stage: stepStage(step), step };
  const progress = { done: 0, of: 0 };
  setHandler(stageProgress, () => progress);
  const selected: SelectedTask[] = [];
  const results: TrajectoryResult[] = [];
  const sampled: SampledTrajectory[][] = [];

  async function sampleRound(tasks: SelectedTask[]): Promise<void> {
    selected.push(...tasks);
    const fresh = samplesOf(selected, groupSize).slice(results.length);
    const inputs = fresh.map(({ selected: task, sample }) =>
      trajectoryInput(task, { ...place, sample }, policyVersion, settings, input),
    );
    const before = progress.done;
    progress.of += inputs.length;
    const ended = await runTrajectories(inputs, concurrency, (done) => {
      progress.done = before + done;
    });
    results.push(...ended);
    for (let first = 0; first < ended.length; first += groupSize) {
      const group = fresh[first]?.selected.id ?? "";
      sampled.push(ended.slice(first, first + groupSize).flatMap((result) => finished(result, group)));
    }
  }

  await sampleRound(await schedule(queues, "select-tasks", { run, step }));
  if (dynamicSampling === undefined) return { results, batch: sampled.flat() };
  const wanted = sampled.length;
  for (let round = 2; round <= dynamicSampling.maxRounds; round++) {
    const count = wanted - withVariance(sampled).length;
    if (count === 0) break;
    await sampleRound(await schedule(queues, "select-tasks", { run, step, replacement: { round, count } }));
  }
  const varied = withVariance(sampled);
  const batch = (varied.length > 0 ? varied : sampled.slice(0, wanted)).flat();
  return { results, batch, groupsLeftOut: sampled.length - varied.length };
}

function finished(result: TrajectoryResult, group: string): SampledTrajectory[] {
  return result.outcome === "left-out" || result.head === null ? [] : [{ group, result, head: result.head }];
}
