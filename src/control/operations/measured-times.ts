import { defined } from "../../base/records/defined.ts";
import { mean } from "../../base/statistics/mean.ts";
import type { StepRecord } from "../../contracts/generated/step-record.ts";
import type { Plan } from "../../contracts/plan.ts";
import type { EvaluationRecord, RunProgress } from "../../contracts/run.ts";
import type { DerivedNumbers } from "../../plan/pipeline/explain/derived-numbers.ts";
import type { RunEvent } from "./events.ts";

/** How long the parts of a pipeline's run take, in seconds. */
export interface MeasuredTimes {
  /** Everything that happens once, such as the start of the workers. */
  once: number;
  /** A task of the evaluation of version 0. */
  untrainedTask: number;
  /** A supervised step of the warm start; 0 without one. */
  warmStartStep: number;
  /** A task of an evaluation after the warm start, or of any evaluation without one. */
  task: number;
  /** A step: the mean of `measuredSteps`. */
  step: number;
  measuredSteps: number;
}

/** The time of a whole run, in seconds. */
export function runSeconds(
  { steps, evaluations, evaluationTasks, warmStartSteps }: DerivedNumbers,
  { once, untrainedTask, warmStartStep, task, step }: MeasuredTimes,
): number {
  const evaluated = evaluationTasks * (untrainedTask + (evaluations - 1) * task);
  return once + evaluated + warmStartSteps * warmStartStep + steps * step;
}

/** Measures times from the events of a command that trains a run. */
export interface TimesWatch {
  see(event: RunEvent): void;
  /** The plan, and the steps that the command has made so far. */
  plan(): Plan | undefined;
  steps(): readonly StepRecord[];
  /** The command until the run began. */
  start(): number;
  /** The warm start was long enough to measure its steps separately from what it does once. */
  isWarmStartMeasured(): boolean;
  /** The times that are known so far. A resumed run has no `once`. */
  times(): Partial<MeasuredTimes>;
}

/** A watch that has seen nothing yet. */
export function watchTimes(): TimesWatch {
  const began = performance.now();
  const since = () => (performance.now() - began) / 1000;
  const phases = new Map<RunProgress["phase"], number>();
  const supervised: SupervisedProgress[] = [];
  const evaluations: EvaluationRecord[] = [];
  const steps: StepRecord[] = [];
  let plan: Plan | undefined;
  let isWhole = true; // the run began with this command
  let early: number | undefined; // when a phase before the warm start was last seen
  let stepBegan: number | undefined; // the end of the first step, less its duration

  /** A phase that was over before anyone looked was not seen. */
  const start = () => {
    const first = [...phases].find(([phase]) => phase !== "open")?.[1] ?? 0;
    return plan?.warmStart === undefined ? first : Math.min(first, warmStartBegan() ?? first);
  };

  /** When the warm start was first seen. If no progress event showed it, the time of the last one before it. */
  const warmStartBegan = () => phases.get("warm-start") ?? early;

  function warmStart(): WarmStartTimes | undefined {
    if (plan?.warmStart === undefined) return { step: 0, once: 0, isMeasured: false };
    const [from, to] = [warmStartBegan(), phases.get("step") ?? stepBegan];
    if (from === undefined || to === undefined) return undefined;
    const evaluated = evaluations.find(({ step, policyVersion }) => step === 0 && policyVersion > 0);
    return warmStartTimes(plan.warmStart.steps, to - from - (evaluated?.seconds ?? 0), supervised);
  }

  return {
    plan: () => plan,
    steps: () => steps,
    start,
    isWarmStartMeasured: () => warmStart()?.isMeasured ?? false,
    see: (event) => {
      if (event.type === "opened") {
        plan = event.plan;
        isWhole = event.past.evaluations.length + event.past.steps.length === 0;
      }
      if (event.type === "evaluation") evaluations.push(event.record);
      if (event.type === "step") {
        steps.push(event.record);
        stepBegan ??= since() - event.record.seconds.total;
      }
      if (event.type !== "progress") return;
      const { phase, done, policyVersion } = event.progress;
      if (!phases.has(phase)) phases.set(phase, since());
      if (phase === "open" || phase === "initialize" || (phase === "evaluate" && policyVersion === 0))
        early = since();
      if (phase === "warm-start" && done > 0 && done !== supervised.at(-1)?.done)
        supervised.push({ done, at: since() });
    },
    times: () => {
      const perTask = (records: readonly EvaluationRecord[]) =>
        records.length === 0
          ? undefined
          : mean(records.map(({ seconds, tasks }) => seconds / Math.max(1, tasks)));
      const untrainedTask = perTask(evaluations.filter(({ policyVersion }) => policyVersion === 0));
      const warm = warmStart();
      return defined<Partial<MeasuredTimes>>({
        once: isWhole && warm !== undefined ? start() + warm.once : undefined,
        untrainedTask,
        warmStartStep: isWhole || warm?.isMeasured ? warm?.step : undefined,
        task:
          perTask(evaluations.filter(({ policyVersion }) => policyVersion > 0)) ??
          (plan?.warmStart === undefined ? untrainedTask : undefined),
        step: steps.length === 0 ? undefined : mean(steps.map(({ seconds }) => seconds.total)),
        measuredSteps: steps.length,
      });
    },
  };
}

/** When a number of supervised steps was first seen, in seconds. */
interface SupervisedProgress {
  done: number;
  at: number;
}

interface WarmStartTimes {
  step: number;
  once: number;
  /** False if there was too little progress to tell the two apart; then the step includes everything. */
  isMeasured: boolean;
}

/** Divides the time of a warm start into its steps and what it does once, such as loading the trainer. */
function warmStartTimes(steps: number, seconds: number, seen: readonly SupervisedProgress[]): WarmStartTimes {
  const whole = Math.max(0, seconds);
  const [first, last] = [seen.at(0), seen.at(-1)];
  if (first === undefined || last === undefined || last.done === first.done)
    return { step: whole / steps, once: 0, isMeasured: false };
  const step = (last.at - first.at) / (last.done - first.done);
  return { step, once: Math.max(0, whole - step * steps), isMeasured: true };
}
