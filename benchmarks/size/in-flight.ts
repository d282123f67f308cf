import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type SupervisedRun, superviseRun } from "../../src/control/supervision/supervised-run.ts";
import { finishTraining, startTraining } from "../../src/control/supervision/training-handle.ts";
import { loadPlan } from "../../src/plan/pipeline/load-plan.ts";
import { createRunFolder } from "../../src/run/folder/create-run-folder.ts";
import { type CpuSeconds, cpuBetween, cpuSeconds, peakMemory } from "../durability/processes.ts";
import { tasksOf } from "../durability/scripted-plan.ts";

/** What a run with so many trajectories under way at once costs. */
export interface InFlight {
  /** The most that the server listed as running. */
  running: number;
  /** From the run's start until all were under way, and from there to the run's end. */
  startSeconds: number;
  endSeconds: number;
  cpuSeconds: CpuSeconds;
  /** Of the training workflow's executions. */
  histories: { events: number; bytes: number }[];
  trained: number;
  peakMiB: Record<string, number>;
}

/** Steps, each of a part of the trajectories: all of theirs may be admitted at once. */
const steps = 4;

/**
 * An asynchronous run of four steps whose trajectories are all under way before the first one's only turn is generated:
 * groups of one, `count` in all.
 */
export async function inFlight(count: number): Promise<InFlight> {
  const folder = await mkdtemp(join(tmpdir(), "everturn-in-flight-"));
  try {
    const supervised = await openGated(folder, count / steps);
    try {
      return await rolledOut(supervised, count, join(folder, "gate"));
    } finally {
      await supervised.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function openGated(folder: string, batchSize: number): Promise<SupervisedRun> {
  const file = join(folder, "tasks.jsonl");
  const lines = tasksOf(steps * batchSize).map((task) => `${JSON.stringify(task)}\n`);
  await writeFile(file, lines.join(""));
  const plan = await loadPlan(join(import.meta.dirname, "..", "durability", "pipeline.yaml"), {
    overrides: [
      `policy.plugin=${join(import.meta.dirname, "policy-gate")}`,
      `policy.config.gate=${join(folder, "gate")}`,
      `steps=${steps}`,
      `rollout.batchSize=${batchSize}`,
      `rollout.staleness=${steps - 1}`,
      `rollout.concurrency=${steps * batchSize}`,
      "evaluation.every=100",
      `dataset.train.config.path=${file}`,
      `dataset.validation.config.path=${file}`,
    ],
  });
  const run = await createRunFolder(plan, { runs: folder });
  return superviseRun({ runs: folder, run, temporal: undefined });
}

async function rolledOut(supervised: SupervisedRun, count: number, gate: string): Promise<InFlight> {
  const { client, run } = supervised;
  const query = `EverturnRun = "${run}" AND WorkflowType = "trajectory" AND ExecutionStatus = "Running"`;
  const cpu = cpuSeconds();
  const began = performance.now();
  const ended = finishTraining(supervised, await startTraining(supervised));
  let running = 0;
  while (running < count) {
    await Promise.race([sleep(1000), supervised.failed, ended]);
    running = Math.max(running, (await client.workflow.count(query)).count);
  }
  const opened = performance.now();
  await writeFile(gate, "");
  const { trajectories } = await Promise.race([ended, supervised.failed]);
  const done = performance.now();
  const histories: InFlight["histories"] = [];
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = "${run}"` })) {
    const { historyLength, historySize = 0 } = await client.workflow.getHandle(run, runId).describe();
    histories.push({ events: historyLength, bytes: historySize });
  }
  return {
    running,
    startSeconds: (opened - began) / 1000,
    endSeconds: (done - opened) / 1000,
    cpuSeconds: cpuBetween(cpu, cpuSeconds()),
    histories,
    trained: trajectories,
    peakMiB: peakMemory(),
  };
}
