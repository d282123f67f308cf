import { Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { afterEach, expect, test, vi } from "vitest";
import { createView, type ViewStream } from "../../../src/cli/live-view.ts";
import type { RunSummary } from "../../../src/cli/progress-text.ts";
import type { StepRecord } from "../../../src/contracts/generated/step-record.ts";
import type { EvaluationRecord, RunProgress } from "../../../src/contracts/run.ts";

const evaluation: EvaluationRecord = {
  ...{ name: "evaluation-v0001", step: 0, policyVersion: 1, accuracy: 0.31, tasks: 300, leftOut: 0 },
  ...{ toolCallRate: 0.3, meanActionTokens: 12, seconds: 8 },
};
const base: RunProgress = {
  ...{ phase: "open", step: 0, steps: 40, policyVersion: 0, done: 0, of: 0, evaluations: [] },
};
const stepRecord: StepRecord = {
  ...{ step: 12, policyVersion: 13, staleness: 0, trajectories: 64, leftOut: 0 },
  ...{ rewardMean: 0.72, successRate: 0.72, toolCallRate: 0.95, validCallRate: 1 },
  ...{
    kl: 0.012,
    approximateKl: 0.001,
    entropy: 0.2,
    clipFraction: 0.05,
    policyLoss: 0,
    valueLoss: 0.1,
    gradientNorm: 1,
  },
  ...{ learningRate: 1e-4, logprobGap: 1e-6, actionLength: 20, turns: 2 },
  tokens: { prompt: 2000, action: 1280, observation: 600 },
  seconds: { rollout: 2, train: 2, publish: 0.1, total: 4.1 },
};
const summary: RunSummary = {
  ...{ run: "calculator-1", steps: 40, trajectories: 2560, policyVersion: 41, seconds: 312 },
  ...{ accuracyBefore: 0, accuracyWarmStart: 0.31, accuracyAfter: 0.96 },
  ...{ folder: "runs/calculator-1", report: "runs/calculator-1/report.html" },
};

function fakeStream(terminal: { isTTY?: boolean; columns?: number } = {}) {
  const written: string[] = [];
  const stream: ViewStream = new Writable({
    write: (chunk, _encoding, done) => {
      written.push(String(chunk));
      done();
    },
  });
  return { stream: Object.assign(stream, terminal), written, text: () => written.join("") };
}

afterEach(() => vi.unstubAllEnvs());

test("writes plain lines where there is no terminal: phases, evaluations, steps, the summary", () => {
  const { stream, text } = fakeStream();
  const view = createView({ stream });
  view.note("Temporal UI at http://127.0.0.1:8233");
  view.progress(base);
  view.progress({ ...base, phase: "warm-start", done: 0, of: 400 });
  view.progress({ ...base, phase: "warm-start", done: 25, of: 400 });
  view.progress({ ...base, phase: "step", step: 1, evaluations: [evaluation] }, { done: 3, of: 64 });
  view.progress({ ...base, phase: "step", step: 12, evaluations: [evaluation] });
  view.record(stepRecord);
  view.record({ ...stepRecord, step: 13, leftOut: 2 });
  view.end(summary);
  view.close();
  expect(text()).toMatchInlineSnapshot(`
    "Temporal UI at http://127.0.0.1:8233
    opening the run
    warm start on demonstrations, 400 steps
    held-out accuracy 31.0 %  policy version 1, 300 tasks  8.0 s
    reinforcement learning, 40 steps
    step 12/40  reward 0.72  success 72 %  tool calls 95 %  kl 0.012  4.1 s
    step 13/40  reward 0.72  success 72 %  tool calls 95 %  kl 0.012  left out 2  4.1 s
    held-out accuracy  0 % as built → 31.0 % after the warm start → 96.0 % after reinforcement learning
    work               40 steps, 2,560 trajectories, 5 min 12 s
    report             runs/calculator-1/report.html
    trajectories       everturn trajectories calculator-1
    "
  `);
});

test("draws over its own lines on a terminal, and gives the cursor back", () => {
  const listeners = process.listenerCount("exit");
  const { stream, written, text } = fakeStream({ isTTY: true, columns: 100 });
  const view = createView({ stream });
  expect(text()).toBe("\u001b[?25l");
  const progress: RunProgress = {
    ...base,
    phase: "step",
    step: 13,
    policyVersion: 13,
    evaluations: [evaluation],
  };
  view.progress(progress, { done: 16, of: 64 });
  view.record(stepRecord);
  view.progress(progress, { done: 32, of: 64 });
  const frame = stripVTControlCharacters(written.at(-1) ?? "").split("\n");
  expect(frame[0]).toMatch(/rolling out trajectories +█{12}░{12} 32\/64 trajectories/);
  expect(frame[1]).toMatch(/step 13\/40 +█{7}░{17} +policy version 13/);
  expect(frame[2]).toMatch(/reward . 0\.72 +success 72 % +tool calls 95 % +kl 0\.012/);
  expect(frame[3]).toContain("held-out accuracy 31.0 %");
  expect(frame[4]).toMatch(/about 1 min 55 s of steps left/);
  expect(written.at(-1)).toContain("\u001b[5A\u001b[0J");
  view.note("a note stays above");
  view.end(summary);
  view.close();
  expect(text().endsWith("everturn trajectories calculator-1\n")).toBe(true);
  expect(text().split("\u001b[?25h")).toHaveLength(2);
  expect(process.listenerCount("exit")).toBe(listeners);
});

test("keeps each line within a narrow terminal, and uses no colour where NO_COLOR is set", () => {
  vi.stubEnv("NO_COLOR", "1");
  const { stream, written } = fakeStream({ isTTY: true, columns: 40 });
  const view = createView({ stream });
  view.record(stepRecord);
  view.progress({ ...base, phase: "step", step: 13, evaluations: [evaluation] }, { done: 16, of: 64 });
  const frame = written.at(-1) ?? "";
  view.close();
  const lines = stripVTControlCharacters(frame).replace("\r", "").split("\n");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(40);
  expect(frame.replace("\u001b[0J", "")).not.toContain("\u001b");
});

test("keeps standard output free for JSON", () => {
  const error = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const output = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const view = createView({ json: true });
  view.note("hello");
  view.close();
  const [errors, outputs] = [error.mock.calls.length, output.mock.calls.length];
  error.mockRestore();
  output.mockRestore();
  expect(errors).toBeGreaterThan(0);
  expect(outputs).toBe(0);
});
