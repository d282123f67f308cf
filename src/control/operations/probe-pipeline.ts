import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watchPeakMemory } from "../../base/processes/peak-memory.ts";
import { defined } from "../../base/records/defined.ts";
import { counted, percent } from "../../base/text/format.ts";
import type { StepRecord } from "../../contracts/generated/step-record.ts";
import type { Plan } from "../../contracts/plan.ts";
import type { EvaluationRecord } from "../../contracts/run.ts";
import type { DerivedNumbers } from "../../plan/pipeline/explain/derived-numbers.ts";
import { type LoadOptions, loadPlan } from "../../plan/pipeline/load-plan.ts";
import { offeredTools } from "../../plan/pipeline/resolve/tool-definitions.ts";
import { type MeasuredTimes, runSeconds, watchTimes } from "./measured-times.ts";
import { placeRun } from "./place-run.ts";
import { trainRun } from "./train-run.ts";

/** The measurements of a pipeline's probe, in seconds and bytes. */
export interface Probe {
  /** The probe's last step: its rollout, its training, and the total. */
  step: StepRecord["seconds"];
  /** The probe's first step, before which the policy is as the warm start left it. */
  record: StepRecord;
  /** The supervised steps before the probe's steps. Fewer than the pipeline's if all would take long. */
  warmStartSteps: number;
  /** The evaluation before the first step. */
  evaluation?: EvaluationRecord;
  /** A task of an evaluation, and a supervised step of the warm start if there is one. */
  evaluationTask: number;
  warmStartStep?: number;
  /** All times from which the whole run is estimated. */
  times: MeasuredTimes;
  /** The command until the run begins. */
  start: number;
  /** The whole run, estimated from these. */
  run: number;
  /** Facts about the rollout that keep a policy from learning. */
  warnings: string[];
  /** The peak memory of each kind of process; empty if the system does not report it. */
  memory: { process: string; bytes: number }[];
}

/** Where the probe's Temporal server comes from, a signal that ends the probe, and a listener for each phase of it. */
export interface ProbeOptions {
  temporal?: string | undefined;
  signal?: AbortSignal | undefined;
  onPhase?: (text: string) => void;
}

/** Supervised steps of a first probe, and the factor by which a probe that is too short to measure them is repeated. */
const fewSteps = 5;
const moreSteps = 20;

/** A probe makes all supervised steps if they take at most this many seconds. */
const shortWarmStart = 120;

/**
 * Runs a pipeline for two steps in a temporary folder, with few held-out tasks, and estimates the time of the whole
 * run. If the warm start is short, it is made in full, because its length decides what the policy can do. Throws the
 * errors of training.
 */
export async function probePipeline(
  file: string,
  loading: LoadOptions,
  numbers: DerivedNumbers,
  options: ProbeOptions = {},
): Promise<Probe> {
  const all = numbers.warmStartSteps;
  let warmSteps = Math.min(fewSteps, all);
  let probe = await probeOnce(file, loading, numbers, warmSteps, options);
  if (warmSteps < all && !probe.isWarmStartMeasured) {
    warmSteps = Math.min(moreSteps * warmSteps, all);
    probe = await probeOnce(file, loading, numbers, warmSteps, options);
  }
  if (warmSteps < all && (probe.warmStartStep ?? 0) * all <= shortWarmStart)
    probe = await probeOnce(file, loading, numbers, all, options);
  const { isWarmStartMeasured: _, ...measured } = probe;
  return measured;
}

async function probeOnce(
  file: string,
  { overrides = [], pluginFolders = [] }: LoadOptions,
  numbers: DerivedNumbers,
  warmStartSteps: number,
  { temporal, signal, onPhase = () => {} }: ProbeOptions,
): Promise<Probe & { isWarmStartMeasured: boolean }> {
  const { steps, evaluationTasks, trajectoriesOfStep, warmStartSteps: allWarm } = numbers;
  const runs = await mkdtemp(join(tmpdir(), "everturn-probe-"));
  const memory = watchPeakMemory();
  try {
    const short = [
      `steps=${Math.min(2, steps)}`,
      "evaluation.every=0",
      `evaluation.tasks=${Math.min(trajectoriesOfStep, evaluationTasks)}`,
      "trackers=[]",
    ];
    const warmSteps = allWarm === 0 ? [] : [`warmStart.steps=${warmStartSteps}`];
    const plan = await loadPlan(file, { overrides: [...overrides, ...short, ...warmSteps], pluginFolders });
    const reference = await placeRun(plan, { runs });
    onPhase(
      allWarm === 0
        ? "probing two steps"
        : `probing two steps after ${warmStartSteps} of ${counted(allWarm, "supervised step")}`,
    );
    const watch = watchTimes();
    let told = "";
    let evaluation: EvaluationRecord | undefined;
    await trainRun(
      reference,
      defined({
        temporal,
        signal,
        onEvent: (event) => {
          watch.see(event);
          if (event.type === "evaluation" && event.record.step === 0) evaluation = event.record;
          if (event.type !== "progress") return;
          const { text } = event.phase;
          if (text !== told) onPhase(`  ${text}`);
          told = text;
        },
      }),
    );
    const [first, last] = [watch.steps().at(0), watch.steps().at(-1)];
    if (first === undefined || last === undefined) throw new Error("The probe's step was not told.");
    const times = probedTimes(watch.times(), first, last);
    return defined({
      step: last.seconds,
      record: first,
      warmStartSteps,
      evaluation,
      evaluationTask: times.task,
      start: watch.start(),
      times,
      run: runSeconds(numbers, times),
      warnings: probeWarnings(plan, first, allWarm - warmStartSteps),
      memory: byProcess(memory.stop()),
      warmStartStep: warmStartSteps === 0 ? undefined : times.warmStartStep,
      isWarmStartMeasured: watch.isWarmStartMeasured(),
    });
  } finally {
    memory.stop();
    await rm(runs, { recursive: true, force: true });
  }
}

/** Names what a rollout shows that keeps a policy from learning. `remaining` is the number of supervised steps that the probe left out. */
function probeWarnings(plan: Plan, record: StepRecord, remaining: number): string[] {
  if (plan.sft !== undefined || plan.dpo !== undefined) return [];
  const {
    toolCallRate = 0,
    validCallRate = 1,
    unreadableCallRate = 0,
    uniformGroupShare,
    cutActionShare = 0,
  } = record;
  const warnings = (record.toolDifferences ?? []).map(
    (difference) => `the agent's tools differ from those of the demonstrations: ${difference}`,
  );
  if (offeredTools(plan).length > 0 && toolCallRate * validCallRate === 0)
    warnings.push(
      unreadableCallRate > 0
        ? "no tool call is valid: the policy writes calls that cannot be read"
        : "no trajectory makes a valid tool call: the policy can only learn to call tools if it sometimes does. Demonstrate calls (warmStart), or show one in the prompt",
    );
  if (record.successRate === 0)
    warnings.push(
      remaining > 0
        ? `no trajectory solves its task yet; the run makes ${counted(remaining, "more supervised step")} than this probe`
        : "no trajectory solves its task, so there may be nothing to learn from. Try a longer warm start, easier tasks, or a reward with partial credit",
    );
  else if (plan.rollout.groupSize > 1 && uniformGroupShare === 1)
    warnings.push("all trajectories of each group earn the same, which teaches a group baseline nothing");
  if (cutActionShare >= 0.3)
    warnings.push(`rollout.maxActionTokens or the context cuts ${percent(cutActionShare, 0)} of the actions`);
  return warnings;
}

/** The first step includes what happens once, such as loading the trainer; the last one does not. */
function probedTimes(
  {
    once = 0,
    untrainedTask = 0,
    warmStartStep = 0,
    task = untrainedTask,
    measuredSteps = 0,
  }: Partial<MeasuredTimes>,
  first: StepRecord,
  last: StepRecord,
): MeasuredTimes {
  const step = last.seconds.total;
  return { once: once + first.seconds.total - step, untrainedTask, warmStartStep, task, step, measuredSteps };
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
