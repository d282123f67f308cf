import { expect, onTestFinished, test, vi } from "vitest";
import type { StepRecord } from "../../../../src/contracts/generated/step-record.ts";
import type { EvaluationRecord } from "../../../../src/contracts/run.ts";
import { runSeconds, watchTimes } from "../../../../src/control/operations/measured-times.ts";
import { samplePlan } from "../../../support/sample-plan.ts";

const plan = samplePlan({ steps: 10, batchSize: 8, tasks: 4, warmStart: true, evaluationEvery: 0 });

function stepOf(step: number, total: number): StepRecord {
  return {
    step,
    policyVersion: step + 1,
    staleness: 0,
    trajectories: 8,
    trajectoriesSoFar: 8 * step,
    leftOut: 0,
    gradientNorm: 1,
    learningRate: 1e-4,
    tokens: { prompt: 0, action: 0, observation: 0 },
    seconds: { rollout: 0, train: 0, publish: 0, total },
  };
}

function evaluationOf(policyVersion: number, step: number, seconds: number): EvaluationRecord {
  const rest = { accuracy: 0, tasks: 4, leftOut: 0, toolCallRate: 0, meanActionTokens: 0 };
  return { name: `evaluation-v000${policyVersion}`, step, policyVersion, seconds, ...rest };
}

test("a resumed run measures its steps and evaluations, but not what happened before", () => {
  const watch = watchTimes();
  const past = { steps: [stepOf(1, 50)], evaluations: [evaluationOf(0, 0, 1), evaluationOf(1, 0, 2)] };
  watch.see({ type: "opened", plan, past });
  expect(watch.times()).toEqual({ measuredSteps: 0 });
  watch.see({ type: "step", record: stepOf(2, 3) });
  watch.see({ type: "step", record: stepOf(3, 5) });
  watch.see({ type: "evaluation", record: evaluationOf(4, 3, 8) });
  expect(watch.times()).toEqual({ task: 2, step: 4, measuredSteps: 2 });
});

test("without a warm start, an evaluation of version 0 counts for the others until one has ended", () => {
  const { warmStart: _, ...cold } = plan;
  const watch = watchTimes();
  watch.see({ type: "opened", plan: cold, past: { steps: [], evaluations: [] } });
  watch.see({ type: "evaluation", record: evaluationOf(0, 0, 2) });
  watch.see({ type: "step", record: stepOf(1, 3) });
  const times = { once: 0, untrainedTask: 0.5, warmStartStep: 0, task: 0.5, step: 3, measuredSteps: 1 };
  expect(watch.times()).toEqual(times);
  const numbers = {
    steps: 10,
    tasksOfStep: 8,
    groupSize: 1,
    trajectoriesOfStep: 8,
    trajectories: 80,
    evaluationTasks: 4,
    evaluations: 3,
    warmStartSteps: 0,
    actionTokens: 48,
  };
  expect(runSeconds(numbers, { ...times, once: 5 })).toBe(5 + 3 * 4 * 0.5 + 10 * 3);
});

/** A watch with a clock of its own, and a way to let it see a phase of a run. */
function watchedRun() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const watch = watchTimes();
  watch.see({ type: "opened", plan, past: { steps: [], evaluations: [] } });
  const progress = {
    step: 0,
    steps: 10,
    done: 0,
    of: 0,
    evaluations: [],
    evaluationEvery: 0,
  };
  const see = (phase: "open" | "evaluate" | "warm-start" | "step" | "done", policyVersion = 0) =>
    watch.see({
      type: "progress",
      waiting: 0,
      progress: { ...progress, phase, policyVersion },
      phase: { text: phase, done: 0, of: 0, unit: "steps" },
    });
  return { watch, see };
}

test("a command's start counts although nobody saw the phases right after it", () => {
  const { watch, see } = watchedRun();
  see("open");
  vi.advanceTimersByTime(6000);
  see("warm-start");
  vi.advanceTimersByTime(1000);
  see("step");
  expect(watch.start()).toBe(6);
  expect(watch.times().once).toBe(6);
});

test("a warm start between two looks counts, and so does one before steps that nobody saw", () => {
  const { watch, see } = watchedRun();
  see("open");
  vi.advanceTimersByTime(5000);
  see("evaluate");
  vi.advanceTimersByTime(2000);
  see("evaluate", 1);
  watch.see({ type: "evaluation", record: evaluationOf(1, 0, 0.5) });
  vi.advanceTimersByTime(3000);
  watch.see({ type: "step", record: stepOf(1, 2.5) });
  expect(watch.start()).toBe(5);
  const steps = plan.warmStart?.steps ?? 0;
  expect(watch.times()).toMatchObject({ once: 5, warmStartStep: 2 / steps, step: 2.5 });
  see("done", 2);
  expect(watch.times()).toMatchObject({ once: 5, warmStartStep: 2 / steps });
});

test("the start ends before a warm start that was over at the first look", () => {
  const { watch, see } = watchedRun();
  vi.advanceTimersByTime(4000);
  see("open");
  vi.advanceTimersByTime(3000);
  see("step", 1);
  expect(watch.start()).toBe(4);
  expect(watch.times()).toMatchObject({ once: 4, warmStartStep: 3 / (plan.warmStart?.steps ?? 0) });
});
