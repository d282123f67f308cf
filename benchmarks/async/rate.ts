import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readLines } from "../../src/base/files/line-file.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import { superviseRun } from "../../src/control/supervision/supervised-run.ts";
import { finishTraining, startTraining } from "../../src/control/supervision/training-handle.ts";
import { loadPlan } from "../../src/plan/pipeline/load-plan.ts";
import { createRunFolder } from "../../src/run/folder/create-run-folder.ts";

/** What rollouts are made of. Times in seconds. */
export interface Shape {
  turns: number;
  slots: number;
  generation: number;
  /** Of the tool's times: median, and standard deviation of the logarithm. */
  tool: { median: number; sigma: number };
  /** Of a step. */
  training: number;
  batch: number;
  concurrency: number;
}

/** How fast a run went. */
export interface Rate {
  /** Trajectories trained on, per second. */
  rate: number;
  staleness: number;
  seconds: number;
}

/**
 * Runs `skipped` steps and then `measured` ones, and ends the run there, as long runs go on: an asynchronous run's
 * first steps fill the pipeline and its last ones would drain it.
 */
export async function measureRate(
  runs: string,
  shape: Shape,
  staleness: number,
  { skipped, measured }: { skipped: number; measured: number },
): Promise<Rate> {
  const plan = await loadPlan(join(import.meta.dirname, "pipeline.yaml"), {
    overrides: [
      `policy.config.slots=${shape.slots}`,
      `policy.config.seconds=${shape.generation}`,
      `tools.0.config.median=${shape.tool.median}`,
      `tools.0.config.sigma=${shape.tool.sigma}`,
      `loop.config.turns=${shape.turns}`,
      `trainer.config.seconds=${shape.training}`,
      `rollout.batchSize=${shape.batch}`,
      `rollout.concurrency=${shape.concurrency}`,
      `rollout.staleness=${staleness}`,
    ],
  });
  const run = await createRunFolder(plan, { runs });
  const supervised = await superviseRun({ runs, run, temporal: undefined });
  try {
    const ended = finishTraining(supervised, await startTraining(supervised));
    const times: number[] = [];
    let records: StepRecord[] = [];
    while (records.length < skipped + measured) {
      await Promise.race([sleep(20), supervised.failed, ended]);
      records = await readLines<StepRecord>(supervised.folder.metrics);
      while (times.length < records.length) times.push(performance.now() / 1000);
    }
    const first = records[0]?.seconds.total ?? 0;
    const from = skipped === 0 ? (times[0] ?? 0) - first : (times[skipped - 1] ?? 0);
    const seconds = (times[skipped + measured - 1] ?? 0) - from;
    const window = records.slice(skipped, skipped + measured);
    const trajectories = window.reduce((sum, record) => sum + record.trajectories, 0);
    return {
      rate: trajectories / seconds,
      staleness: Math.max(...window.map((record) => record.staleness)),
      seconds,
    };
  } finally {
    await supervised.close();
  }
}
