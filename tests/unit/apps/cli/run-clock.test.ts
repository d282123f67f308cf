import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { linesView } from "../../../../src/apps/cli/views/lines-view.ts";
import { runClock } from "../../../../src/apps/cli/views/run-clock.ts";
import type { StepRecord } from "../../../../src/contracts/generated/step-record.ts";
import type { Plan, ResolvedTool } from "../../../../src/contracts/plan.ts";
import type { EvaluationRecord, RunProgress } from "../../../../src/contracts/run.ts";
import { progressEvent, type RunEvent } from "../../../../src/control/operations/events.ts";
import type { MeasuredTimes } from "../../../../src/control/operations/measured-times.ts";
import { samplePlan } from "../../../support/sample-plan.ts";

/** The times of runs on two cores, in seconds since they began. Steps have 64 trajectories and two epochs. */
interface RecordedRun {
  name: string;
  /** When each 25 supervised steps, or `every`, had ended. */
  warmStart: { batchSize: number; every?: number; slices: number[] };
  /** The processor time of the one call of a trajectory, as its tool's manifest says. Default: demonstrations call no tool. */
  cpuTime?: string;
  /** Before the warm start, after it, each `evaluationEvery` steps, and after the last step. */
  evaluations: { at: number; seconds: number; tasks: number }[];
  evaluationEvery?: number;
  steps: { at: number; seconds: number }[];
  end: number;
  /** The times that a probe measured. */
  probed?: MeasuredTimes;
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
    cpuTime: "1ms",
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
    cpuTime: "1ms",
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
    cpuTime: "1ms",
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
  {
    name: "code",
    warmStart: { batchSize: 64, every: 100, slices: [29.3, 48.6, 65.8, 84.5] },
    cpuTime: "65ms",
    evaluations: [
      { at: 7, seconds: 2.8, tasks: 100 },
      { at: 91.7, seconds: 7.1, tasks: 100 },
      { at: 120.2, seconds: 6.2, tasks: 100 },
      { at: 149, seconds: 5.7, tasks: 100 },
      { at: 175.5, seconds: 6.2, tasks: 100 },
    ],
    evaluationEvery: 5,
    steps: [
      { at: 96.2, seconds: 4.5 },
      { at: 100.6, seconds: 3.9 },
      { at: 104.3, seconds: 4.2 },
      { at: 108.9, seconds: 4.1 },
      { at: 113, seconds: 4.3 },
      { at: 124.4, seconds: 5.1 },
      { at: 128.7, seconds: 4.3 },
      { at: 133.6, seconds: 4.5 },
      { at: 138.1, seconds: 4.5 },
      { at: 142.2, seconds: 4.4 },
      { at: 152.3, seconds: 4.4 },
      { at: 156.7, seconds: 4.3 },
      { at: 161.3, seconds: 4.3 },
      { at: 165.7, seconds: 4.2 },
      { at: 169.5, seconds: 4.1 },
    ],
    end: 177.3,
  },
  {
    name: "zoom",
    warmStart: { batchSize: 64, every: 75, slices: [27.4, 45.7, 65.9, 83.8] },
    cpuTime: "40ms",
    evaluations: [
      { at: 9.2, seconds: 3.1, tasks: 100 },
      { at: 89.4, seconds: 5.6, tasks: 100 },
      { at: 112.8, seconds: 4.8, tasks: 100 },
      { at: 138.2, seconds: 4, tasks: 100 },
      { at: 161.3, seconds: 3.7, tasks: 100 },
    ],
    evaluationEvery: 5,
    steps: [
      { at: 93.7, seconds: 3.8 },
      { at: 97, seconds: 3.4 },
      { at: 100.4, seconds: 3.2 },
      { at: 104, seconds: 3.8 },
      { at: 108, seconds: 3.8 },
      { at: 117.1, seconds: 4.3 },
      { at: 121.4, seconds: 4.5 },
      { at: 126, seconds: 4.1 },
      { at: 129.3, seconds: 3.7 },
      { at: 133.8, seconds: 3.8 },
      { at: 141.4, seconds: 4.2 },
      { at: 146, seconds: 4 },
      { at: 149.3, seconds: 3.6 },
      { at: 153.7, seconds: 4.1 },
      { at: 157.6, seconds: 4.2 },
    ],
    end: 163.2,
  },
  {
    name: "web",
    warmStart: { batchSize: 64, every: 75, slices: [18.4, 28.5, 38.7, 49.2] },
    cpuTime: "170ms",
    evaluations: [
      { at: 6.2, seconds: 1.4, tasks: 50 },
      { at: 57.2, seconds: 7.5, tasks: 50 },
      { at: 100.9, seconds: 6.4, tasks: 50 },
      { at: 142.3, seconds: 5.8, tasks: 50 },
    ],
    evaluationEvery: 5,
    steps: [
      { at: 64, seconds: 7.5 },
      { at: 70.9, seconds: 6.9 },
      { at: 77.8, seconds: 7.2 },
      { at: 86, seconds: 7.6 },
      { at: 95.1, seconds: 8.8 },
      { at: 109.8, seconds: 8.7 },
      { at: 119.1, seconds: 9 },
      { at: 128.5, seconds: 9.2 },
      { at: 130.8, seconds: 2.6 },
      { at: 136.6, seconds: 6.1 },
    ],
    end: 144,
    probed: { once: 4.4, untrainedTask: 0.03, warmStartStep: 0.15, task: 0.12, step: 7.2, measuredSteps: 2 },
  },
];

test.each(recorded)(
  "$name: after each quarter, the estimate of the whole run is right within 20 %",
  (run) => {
    for (const share of [0.25, 0.5, 0.75]) {
      const time = share * run.end;
      const clock = runClock(undefined, 2);
      clock.see(opened(run), 0);
      for (const { at, event } of eventsOf(run, time)) clock.see(event, at);
      const estimated = time + (clock.left(time)?.seconds ?? Number.NaN);
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

test("a run that was measured earlier has an estimate from its beginning", () => {
  const run = recordedRun("web");
  for (const time of [1, 3, 6, 8]) {
    const clock = runClock(() => run.probed, 2);
    clock.see(opened(run), 0);
    for (const { at, event } of eventsOf(run, time)) clock.see(event, at);
    const estimated = time + (clock.left(time)?.seconds ?? Number.NaN);
    expect(Math.abs(estimated / run.end - 1), `${time}: ${estimated} of ${run.end}`).toBeLessThan(0.2);
  }
});

test("steps on preferences have an estimate before the first one ends", () => {
  const [run] = recorded;
  const clock = runClock();
  const event = opened(run!);
  const { plan } = event;
  const dpo = {
    preferences: "pairs.jsonl",
    batchSize: 32,
    updates: 10,
    heldOut: 0,
    learningRate: 1e-4,
    beta: 0.1,
    loss: "sigmoid" as const,
    labelSmoothing: 0,
  };
  clock.see({ ...event, plan: { ...plan, dpo } }, 0);
  for (const { at, event: seen } of eventsOf(run!, 124)) clock.see(seen, at);
  const supervised = (123.7 - 34.7) / 375; // seconds of 32 examples
  const steps = run!.steps.length * 10 * 2 * 2 * supervised; // each update: two answers to 32 prompts, with a reference
  expect(clock.left(124)?.seconds).toBeGreaterThan(steps);
  expect(clock.left(124)?.seconds).toBeLessThan(steps + 20); // the evaluations
});

test("plain lines have the estimate at each quarter", () => {
  expect(
    linesAboutTime(recordedRun("web"), recordedRun("web").probed).map((line) => line.split(",")[0]),
  ).toEqual([
    "a quarter of the time is over",
    "half of the time is over",
    "three quarters of the time is over",
  ]);
});

test("until a trajectory calls a tool, an estimate says that it assumes quick calls, and is corrected later", () => {
  const { cpuTime: _, ...run } = recordedRun("web");
  expect(linesAboutTime(run, undefined)).toEqual([
    "a quarter of the time is over, about 58 s left if tool calls are quick: no trajectory has called a tool yet",
    "half of the time is over, about 36 s left if tool calls are quick: no trajectory has called a tool yet",
    "about 1 min 22 s left, as measured after the warm start",
    "half of the time is over, about 1 min 12 s left",
    "three quarters of the time is over, about 36 s left",
  ]);
});

/** The lines about the rest of a run that a view writes. */
function linesAboutTime(run: RecordedRun, earlier: MeasuredTimes | undefined): string[] {
  let now = 0;
  const written: string[] = [];
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      written.push(String(chunk).trimEnd());
      done();
    },
  });
  const view = linesView(
    stream,
    () => earlier,
    () => now * 1000,
  );
  view.tell(opened(run));
  for (const { at, event } of eventsOf(run, run.end)) {
    now = at;
    view.tell(event);
  }
  return written.filter((line) => line.includes(" left"));
}

function recordedRun(name: string): RecordedRun {
  return recorded.find((run) => run.name === name)!;
}

function opened({
  warmStart,
  cpuTime,
  steps,
  evaluations,
}: RecordedRun): Extract<RunEvent, { type: "opened" }> {
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
      tools: plan.tools.map((tool) => withCpuTime(tool, cpuTime)),
      demonstratedCalls: cpuTime === undefined ? {} : { calculator: 1 },
      warmStart: { ...plan.warmStart!, batchSize: warmStart.batchSize },
      trainer: { ...plan.trainer, config: { ...plan.trainer.config, epochs: 2 } },
    },
  };
}

function withCpuTime(tool: ResolvedTool, cpuTime: string | undefined): ResolvedTool {
  const { manifest } = tool;
  if (cpuTime === undefined || manifest.tool === undefined) return tool;
  return { ...tool, manifest: { ...manifest, tool: { ...manifest.tool, cpuTime } } };
}

function base({ steps, evaluationEvery = 0 }: RecordedRun): RunProgress {
  return {
    phase: "initialize",
    step: 0,
    steps: steps.length,
    policyVersion: 0,
    done: 0,
    of: 0,
    evaluations: [],
    evaluationEvery,
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
  const { evaluations, evaluationEvery, warmStart, steps } = run;
  const { every = 25, slices: all } = warmStart;
  const records = evaluations.map(({ seconds, tasks }, index): EvaluationRecord => {
    const step = Math.max(0, index - 1) * (evaluationEvery ?? steps.length);
    const policyVersion = step === 0 ? index : step + 1;
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
  const slices = all.filter((at) => at <= time).length;
  if (ended.length === 1)
    return progressEvent({
      ...known,
      phase: "warm-start",
      done: every * slices,
      of: every * all.length,
    });
  const step = steps.filter(({ at }) => at <= time).length;
  if (ended.length === evaluations.length) return progressEvent({ ...known, phase: "done", step });
  return progressEvent({ ...known, phase: "step", step: step + 1 });
}
