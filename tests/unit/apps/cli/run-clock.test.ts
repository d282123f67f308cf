import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { linesView } from "../../../../src/apps/cli/views/lines-view.ts";
import { runClock } from "../../../../src/apps/cli/views/run-clock.ts";
import type { StepRecord } from "../../../../src/contracts/generated/step-record.ts";
import type { Plan } from "../../../../src/contracts/plan.ts";
import type { EvaluationRecord, RunProgress } from "../../../../src/contracts/run.ts";
import { progressEvent, type RunEvent } from "../../../../src/control/operations/events.ts";
import { samplePlan } from "../../../support/sample-plan.ts";

/** The times of runs on two busy cores, in seconds since they began. Steps have 64 trajectories and two epochs. */
interface RecordedRun {
  name: string;
  /** When each 25 supervised steps had ended. */
  warmStart: { batchSize: number; slices: number[] };
  evaluations: { at: number; seconds: number; tasks: number }[];
  steps: { at: number; seconds: number }[];
  end: number;
}

const recorded: RecordedRun[] = [
  {
    name: "shop",
    warmStart: {
      batchSize: 32,
      slices: [
        34.7, 40.1, 46.5, 53.8, 59.5, 66.3, 73.8, 79.7, 85.2, 91.9, 97.4, 104.1, 107.9, 113.6, 118.7, 123.7,
      ],
    },
    evaluations: [
      { at: 25.3, seconds: 13.1, tasks: 100 },
      { at: 129.7, seconds: 5.9, tasks: 100 },
      { at: 208.2, seconds: 6.5, tasks: 100 },
    ],
    steps: [
      { at: 136.6, seconds: 6.9 },
      { at: 141.0, seconds: 4.3 },
      { at: 147.4, seconds: 6.4 },
      { at: 154.0, seconds: 6.4 },
      { at: 160.5, seconds: 6.2 },
      { at: 167.3, seconds: 6.7 },
      { at: 182.8, seconds: 15.3 },
      { at: 189.1, seconds: 6.2 },
      { at: 196.1, seconds: 6.8 },
      { at: 201.4, seconds: 5.1 },
    ],
    end: 208.8,
  },
  {
    name: "buses",
    warmStart: {
      batchSize: 32,
      slices: [59.4, 68.4, 77.0, 87.1, 96.6, 105.8, 116.0, 126.2, 139.5, 146.7, 164.0, 174.4],
    },
    evaluations: [
      { at: 43.5, seconds: 19.0, tasks: 100 },
      { at: 197.8, seconds: 23.0, tasks: 100 },
      { at: 385.5, seconds: 11.3, tasks: 100 },
    ],
    steps: [
      { at: 215.8, seconds: 18.0 },
      { at: 233.3, seconds: 17.2 },
      { at: 261.7, seconds: 28.1 },
      { at: 287.2, seconds: 25.3 },
      { at: 306.6, seconds: 19.0 },
      { at: 320.3, seconds: 13.6 },
      { at: 333.6, seconds: 13.2 },
      { at: 345.8, seconds: 12.1 },
      { at: 357.5, seconds: 11.5 },
      { at: 373.8, seconds: 15.9 },
    ],
    end: 385.7,
  },
  {
    name: "calculator",
    warmStart: { batchSize: 64, slices: [66.2, 119.2, 163.3, 205.3] },
    evaluations: [
      { at: 17.5, seconds: 6.7, tasks: 50 },
      { at: 216.8, seconds: 11.3, tasks: 50 },
      { at: 310.8, seconds: 2.2, tasks: 50 },
    ],
    steps: [
      { at: 236.0, seconds: 19.1 },
      { at: 244.6, seconds: 8.5 },
      { at: 291.4, seconds: 46.6 },
      { at: 302.8, seconds: 11.2 },
      { at: 308.4, seconds: 5.5 },
    ],
    end: 311.5,
  },
];

test.each(recorded)(
  "$name: after each quarter, the estimate of the whole run is right within 20 %",
  (run) => {
    for (const share of [0.25, 0.5, 0.75]) {
      const time = share * run.end;
      const clock = runClock();
      clock.see(opened(run), 0);
      for (const { at, event } of eventsOf(run, time)) clock.see(event, at);
      const estimated = time + (clock.left(time) ?? Number.NaN);
      expect(Math.abs(estimated / run.end - 1), `${share}: ${estimated} of ${run.end}`).toBeLessThan(0.2);
    }
  },
);

test("a run that has ended, and one whose warm start is to come, have no estimate", () => {
  const [run] = recorded;
  const clock = runClock();
  clock.see(opened(run!), 0);
  for (const { at, event } of eventsOf(run!, 20)) clock.see(event, at);
  expect(clock.left(20)).toBeUndefined();
  clock.see(progressEvent({ ...base(run!), phase: "done", step: 10 }), 210);
  expect(clock.left(210)).toBeUndefined();
});

test("plain lines have the estimate at each quarter", () => {
  const [run] = recorded;
  let now = 0;
  const written: string[] = [];
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      written.push(String(chunk));
      done();
    },
  });
  const view = linesView(stream, () => now * 1000);
  view.tell(opened(run!));
  for (const { at, event } of eventsOf(run!, run!.end)) {
    now = at;
    view.tell(event);
  }
  expect(
    written.filter((line) => line.includes(" of the time is over")).map((line) => line.split(",")[0]),
  ).toEqual([
    "a quarter of the time is over",
    "half of the time is over",
    "three quarters of the time is over",
  ]);
});

function opened({ warmStart, steps, evaluations }: RecordedRun): RunEvent {
  const tasks = evaluations[0]?.tasks ?? 0;
  const plan: Plan = samplePlan({
    steps: steps.length,
    batchSize: 64,
    tasks,
    warmStart: true,
    evaluationEvery: 0,
  });
  return {
    type: "opened",
    past: { steps: [], evaluations: [] },
    plan: {
      ...plan,
      warmStart: { ...plan.warmStart!, batchSize: warmStart.batchSize },
      trainer: { ...plan.trainer, config: { ...plan.trainer.config, epochs: 2 } },
    },
  };
}

function base({ steps }: RecordedRun): RunProgress {
  return {
    phase: "initialize",
    step: 0,
    steps: steps.length,
    policyVersion: 0,
    done: 0,
    of: 0,
    evaluations: [],
    evaluationEvery: 0,
  };
}

/** What a view is told each second until a time. */
function eventsOf(run: RecordedRun, until: number): { at: number; event: RunEvent }[] {
  const seconds = Array.from({ length: Math.floor(until) + 1 }, (_, at) => ({
    at,
    event: progressAt(run, at),
  }));
  const steps = run.steps.map(({ at, seconds: total }, index) => ({
    at,
    event: stepEvent(index + 1, total),
  }));
  return [...seconds, ...steps].filter(({ at }) => at <= until).toSorted((one, other) => one.at - other.at);
}

function stepEvent(step: number, total: number): RunEvent {
  const record: StepRecord = {
    step,
    policyVersion: step + 1,
    staleness: 0,
    trajectories: 64,
    trajectoriesSoFar: 64 * step,
    leftOut: 0,
    gradientNorm: 1,
    learningRate: 1e-3,
    tokens: { prompt: 0, action: 0, observation: 0 },
    seconds: { rollout: total / 2, train: total / 2, publish: 0, total },
  };
  return { type: "step", record };
}

function progressAt(run: RecordedRun, time: number): RunEvent {
  const { evaluations, warmStart, steps } = run;
  const records = evaluations.map(({ seconds, tasks }, index): EvaluationRecord => {
    const last = index === 2;
    const policyVersion = last ? steps.length + 1 : index;
    const step = last ? steps.length : 0;
    const rest = { accuracy: 0, leftOut: 0, toolCallRate: 0, meanActionTokens: 0 };
    return { name: `evaluation-${index}`, step, policyVersion, tasks, seconds, ...rest };
  });
  const ended = records.filter((_, index) => evaluations[index]!.at <= time);
  const known = { ...base(run), evaluations: ended, policyVersion: ended.at(-1)?.policyVersion ?? 0 };
  const current = evaluations.find(({ at, seconds }) => at - seconds <= time && time < at);
  if (current !== undefined) {
    const index = evaluations.indexOf(current);
    const done = Math.floor((current.tasks * (time - current.at + current.seconds)) / current.seconds);
    const policyVersion = records[index]!.policyVersion;
    return progressEvent({ ...known, phase: "evaluate", policyVersion }, { done, of: current.tasks });
  }
  if (ended.length === 0) return progressEvent(known);
  const slices = warmStart.slices.filter((at) => at <= time).length;
  if (ended.length === 1)
    return progressEvent({
      ...known,
      phase: "warm-start",
      done: 25 * slices,
      of: 25 * warmStart.slices.length,
    });
  const step = steps.filter(({ at }) => at <= time).length;
  if (ended.length === 3) return progressEvent({ ...known, phase: "done", step });
  return progressEvent({ ...known, phase: "step", step: step + 1 });
}
