import { availableParallelism } from "node:os";
import { mean } from "../../../base/statistics/mean.ts";
import type { StepRecord } from "../../../contracts/generated/step-record.ts";
import type { Plan } from "../../../contracts/plan.ts";
import type { EvaluationRecord, RunProgress } from "../../../contracts/run.ts";
import type { RunEvent } from "../../../control/operations/events.ts";
import type { MeasuredTimes } from "../../../control/operations/measured-times.ts";
import { demonstratedTime } from "./demonstrated-time.ts";
import { type PhaseTime, phaseClock, type TimeLeft } from "./estimate.ts";

/** Estimates from a run's events how long the rest of the run will take. All times in seconds. */
export interface RunClock {
  see(event: RunEvent, now: number): void;
  /** Undefined while an estimate is not possible yet, and when the run has ended. */
  left(now: number): TimeLeft | undefined;
}

/** Returns the times that this machine has measured for a pipeline. */
export type TimesOf = (plan: Plan) => MeasuredTimes | undefined;

/** The steps whose mean time counts. */
const recentSteps = 10;

/**
 * The time of an evaluation after the warm start without its tool calls, divided by that before it: an untrained model
 * rarely ends its actions before the limit. This factor and the next are usual ones of the runs in
 * tests/unit/apps/cli/run-clock.test.ts.
 */
const afterWarmStart = 0.75;

/** The time of an update by policy gradients or preferences, divided by that of a supervised one on as many sequences. */
const beyondSupervised = 2;

/**
 * A clock that has seen nothing yet. `timesOf` returns times of an earlier run. They count until the run has measured
 * its own after the warm start. Without them, tool calls are expected to take the processor time of their manifests
 * on `cores`.
 */
export function runClock(
  timesOf: TimesOf = () => undefined,
  cores: number = availableParallelism(),
): RunClock {
  const phases = phaseClock();
  const records: StepRecord[] = [];
  let plan: Plan | undefined;
  let earlier: MeasuredTimes | undefined;
  let latest: Progress | undefined;
  let lastEnd: number | undefined; // of a step or an evaluation
  let supervisedStep: number | undefined;

  function seeProgress(event: Progress, now: number): void {
    if (newestVersion(event.progress) > newestVersion(latest?.progress)) lastEnd = now;
    latest = event;
    const { each } = phases.see(event.phase, now);
    if (event.progress.phase === "warm-start") supervisedStep = each ?? supervisedStep;
  }

  /** The number of recorded steps. */
  const done = () => records.at(-1)?.step ?? 0;

  /** Whether nothing has been measured after the warm start yet. */
  function isUntrained(evaluated: EvaluationRecord | undefined): boolean {
    return plan?.warmStart !== undefined && done() === 0 && (evaluated?.policyVersion ?? 0) === 0;
  }

  /** The usual time of an evaluation from now on. */
  function evaluationSeconds(evaluated: EvaluationRecord | undefined, time: PhaseTime): number {
    if (evaluated !== undefined && !isUntrained(evaluated)) return evaluated.seconds;
    if (earlier !== undefined) return earlier.task * (evaluated?.tasks ?? plan?.evaluation.tasks ?? 0);
    const measured = evaluated?.seconds ?? currentTotal(time) ?? 0;
    if (plan === undefined || !isUntrained(evaluated)) return measured;
    const tasks = evaluated?.tasks ?? plan.evaluation.tasks;
    return measured * afterWarmStart + tasks * demonstratedTime(plan, cores).seconds;
  }

  /** The usual time of a step. Before the first one ends, a guess. */
  function stepSeconds(evaluated: EvaluationRecord | undefined, evaluation: number): number | undefined {
    const recent = records.slice(-recentSteps);
    if (recent.length > 0) return mean(recent.map(({ seconds }) => seconds.total));
    if (earlier !== undefined) return earlier.step;
    if (plan === undefined || evaluated === undefined) return undefined;
    const { rollout, trainer, warmStart, sft, dpo } = plan;
    if (sft !== undefined || dpo !== undefined) return exampleSeconds(sft, dpo);
    const rollouts = (evaluation * rollout.batchSize) / evaluated.tasks;
    if (supervisedStep === undefined || warmStart === undefined) return rollouts * 1.5;
    const epochs = Number(trainer.config.epochs ?? 1);
    const updates = (epochs * rollout.batchSize) / warmStart.batchSize;
    return rollouts + beyondSupervised * supervisedStep * updates;
  }

  /** The same for steps on examples, which have no rollouts. */
  function exampleSeconds(sft: Plan["sft"], dpo: Plan["dpo"]): number | undefined {
    if (supervisedStep === undefined || plan?.warmStart === undefined) return undefined;
    const each = supervisedStep / plan.warmStart.batchSize;
    if (sft !== undefined) return each * sft.updates * sft.batchSize;
    return dpo && each * beyondSupervised * dpo.updates * 2 * dpo.batchSize;
  }

  /** The time of the warm start, as measured earlier. */
  function warmStartSeconds(): number | undefined {
    return plan?.warmStart && earlier && earlier.warmStartStep * plan.warmStart.steps;
  }

  function secondsLeft({ progress, phase }: Progress, now: number): number | undefined {
    const time = phases.see(phase, now);
    const isBuilt = progress.policyVersion > 0 || progress.phase === "warm-start" || done() > 0;
    const isWarmStartToCome = plan?.warmStart !== undefined && !isBuilt;
    const warmStart = isWarmStartToCome ? warmStartSeconds() : 0;
    const evaluated = progress.evaluations.at(-1);
    const evaluation = evaluationSeconds(evaluated, time);
    const step = stepSeconds(evaluated, evaluation);
    if (warmStart === undefined || step === undefined) return undefined;
    const steps = Math.max(0, progress.steps - done()) * step;
    const evaluations = evaluationsLeft(progress, done()) + (isWarmStartToCome ? 1 : 0); // one follows it
    const later = warmStart + steps + evaluations * evaluation;
    const waited = now - (lastEnd ?? now);
    switch (progress.phase) {
      case "warm-start": {
        const whole = warmStartSeconds();
        const remaining = time.remaining ?? (whole === undefined ? undefined : whole - time.elapsed);
        return remaining === undefined ? undefined : later + Math.max(0, remaining);
      }
      case "evaluate":
        return time.remaining === undefined
          ? later - Math.min(waited, evaluation)
          : later - evaluation + Math.max(0, time.remaining);
      case "open":
      case "initialize":
        return later + Math.max(0, (earlier?.once ?? 0) - waited);
      default:
        return later - Math.min(waited, step);
    }
  }

  function assumesQuickTools({ evaluations }: RunProgress): boolean {
    if (plan === undefined || earlier !== undefined) return false;
    const { tools, demonstratedTools = [] } = plan;
    const evaluated = evaluations.at(-1);
    const isWithoutCall = isUntrained(evaluated) && (evaluated?.toolCallRate ?? 0) === 0;
    const isWithTools = tools.length + demonstratedTools.length > 0;
    return isWithTools && isWithoutCall && demonstratedTime(plan, cores).isGuess;
  }

  return {
    see: (event, now) => {
      lastEnd ??= now;
      if (event.type === "progress") return seeProgress(event, now);
      if (event.type === "opened") {
        plan = event.plan;
        earlier = timesOf(plan);
        records.push(...event.past.steps);
      }
      if (event.type !== "step") return;
      records.push(event.record);
      lastEnd = now;
    },
    left: (now) => {
      if (latest === undefined || latest.progress.phase === "done") return undefined;
      const seconds = secondsLeft(latest, now);
      if (seconds === undefined) return undefined;
      return { seconds, assumesQuickTools: assumesQuickTools(latest.progress) };
    },
  };
}

type Progress = Extract<RunEvent, { type: "progress" }>;

/** How long a phase that is counted takes as a whole. */
function currentTotal({ elapsed, remaining }: PhaseTime): number | undefined {
  return remaining === undefined ? undefined : elapsed + remaining;
}

function newestVersion(progress: RunProgress | undefined): number {
  return progress?.evaluations.at(-1)?.policyVersion ?? -1;
}

/** The number of evaluations that have not ended, the current one included, after the first `done` steps. */
function evaluationsLeft(
  { phase, steps, evaluations, evaluationEvery = 0 }: RunProgress,
  done: number,
): number {
  const isDue = (step: number) =>
    step === steps || (evaluationEvery > 0 && step > 0 && step % evaluationEvery === 0);
  const isBefore = done === 0 && phase !== "step" && phase !== "done";
  let left = isBefore || (isDue(done) && !evaluations.some(({ step }) => step === done)) ? 1 : 0;
  for (let step = done + 1; step <= steps; step++) if (isDue(step)) left++;
  return left;
}
