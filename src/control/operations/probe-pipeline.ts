import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watchPeakMemory } from "../../base/processes/peak-memory.ts";
import { defined } from "../../base/records/defined.ts";
import type { StepRecord } from "../../contracts/generated/step-record.ts";
import type { EvaluationRecord } from "../../contracts/run.ts";
import type { DerivedNumbers } from "../../plan/pipeline/explain/derived-numbers.ts";
import { type LoadOptions, loadPlan } from "../../plan/pipeline/load-plan.ts";
import { placeRun } from "./place-run.ts";
import { trainRun } from "./train-run.ts";

/** The measurements of a pipeline's probe, in seconds and bytes. */
export interface Probe {
  /** A step: its rollout, its training, and the total. */
  step: StepRecord["seconds"];
  /** A task of an evaluation, and a supervised step of the warm start if there is one. */
  evaluationTask: number;
  warmStartStep?: number;
  /** The command until the run begins. */
  start: number;
  /** The whole run, estimated from these. */
  run: number;
  /** The peak memory of each kind of process; empty if the system does not report it. */
  memory: { process: string; bytes: number }[];
}

/** Supervised steps of a probe. */
const warmStartSteps = 5;

/**
 * Runs a pipeline for one step in a temporary folder, with few supervised steps and held-out tasks, and estimates
 * the time of the whole run. Throws the errors of training.
 */
export async function probePipeline(
  file: string,
  { overrides = [], pluginFolders = [] }: LoadOptions,
  { steps, evaluations, evaluationTasks, warmStartSteps: allWarm }: DerivedNumbers,
  { temporal, signal }: { temporal?: string | undefined; signal?: AbortSignal | undefined } = {},
): Promise<Probe> {
  const runs = await mkdtemp(join(tmpdir(), "everturn-probe-"));
  const memory = watchPeakMemory();
  try {
    const short = [
      "steps=1",
      "evaluation.every=0",
      `evaluation.tasks=${Math.min(8, evaluationTasks)}`,
      "trackers=[]",
    ];
    const warm = allWarm === 0 ? [] : [`warmStart.steps=${Math.min(warmStartSteps, allWarm)}`];
    const plan = await loadPlan(file, { overrides: [...overrides, ...short, ...warm], pluginFolders });
    const reference = await placeRun(plan, { runs });
    const began = performance.now();
    const evaluated: EvaluationRecord[] = [];
    const phases = new Map<string, number>();
    let step: StepRecord["seconds"] | undefined;
    await trainRun(
      reference,
      defined({
        temporal,
        signal,
        onEvent: (event) => {
          if (event.type === "evaluation") evaluated.push(event.record);
          if (event.type === "step") step = event.record.seconds;
          if (event.type !== "progress") return;
          const { phase } = event.progress;
          if (!phases.has(phase)) phases.set(phase, performance.now());
        },
      }),
    );
    if (step === undefined) throw new Error("The probe's step was not told.");
    const tasks = evaluated.reduce((sum, one) => sum + one.tasks, 0);
    const evaluationTask = evaluated.reduce((sum, { seconds }) => sum + seconds, 0) / Math.max(1, tasks);
    const start = ((phases.get("initialize") ?? phases.get("evaluate") ?? began) - began) / 1000;
    const probed = Math.min(warmStartSteps, allWarm);
    const warmStartStep =
      probed === 0 ? undefined : warmSeconds(plan.warmStart?.steps ?? 1, phases, evaluated);
    const run =
      start +
      (warmStartStep ?? 0) * allWarm +
      evaluations * evaluationTasks * evaluationTask +
      steps * step.total;
    return defined({
      step,
      evaluationTask,
      start,
      run,
      memory: byProcess(memory.stop()),
      warmStartStep,
    });
  } finally {
    memory.stop();
    await rm(runs, { recursive: true, force: true });
  }
}

/**
 * The time of a supervised step: from the first sight of the warm start to the step, minus the evaluation in
 * between. Both are known to the second.
 */
function warmSeconds(
  steps: number,
  phases: ReadonlyMap<string, number>,
  [, after]: readonly EvaluationRecord[],
): number {
  const [from, to] = [phases.get("warm-start"), phases.get("step")];
  if (from === undefined || to === undefined) return 0;
  return Math.max(0, (to - from) / 1000 - (after?.seconds ?? 0)) / steps;
}

/** Workers by role, the server, and other processes, the largest first. */
function byProcess(peaks: readonly { command: string; bytes: number }[]): Probe["memory"] {
  const sums = new Map<string, number>();
  for (const { command, bytes } of peaks) {
    const role = /--role (\w+)/.exec(command)?.[1];
    const name =
      role !== undefined ? `worker ${role}` : /temporal/.test(command) ? "Temporal server" : "others";
    sums.set(name, (sums.get(name) ?? 0) + bytes);
  }
  return [...sums]
    .map(([process, bytes]) => ({ process, bytes }))
    .toSorted((one, other) => other.bytes - one.bytes);
}
