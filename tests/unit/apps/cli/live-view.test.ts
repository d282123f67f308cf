import { Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { afterEach, expect, test, vi } from "vitest";
import { createView } from "../../../../src/apps/cli/views/live-view.ts";
import type { RunSummary } from "../../../../src/apps/cli/views/progress-text.ts";
import type { ViewStream } from "../../../../src/apps/cli/views/run-view.ts";
import { screenView } from "../../../../src/apps/cli/views/screen-view.ts";
import { terminalText } from "../../../../src/base/processes/terminal.ts";
import type { StepRecord } from "../../../../src/contracts/generated/step-record.ts";
import type { EvaluationRecord, RunProgress } from "../../../../src/contracts/run.ts";
import { progressEvent } from "../../../../src/control/operations/events.ts";
import { samplePlan } from "../../../support/sample-plan.ts";

const evaluation: EvaluationRecord = {
  name: "evaluation-v0001",
  step: 0,
  policyVersion: 1,
  accuracy: 0.31,
  tasks: 300,
  leftOut: 0,
  toolCallRate: 0.3,
  meanActionTokens: 12,
  seconds: 8,
};
const base: RunProgress = {
  phase: "open",
  step: 0,
  steps: 40,
  policyVersion: 0,
  done: 0,
  of: 0,
  evaluations: [],
  evaluationEvery: 0,
};
const stepRecord: StepRecord = {
  step: 12,
  policyVersion: 13,
  staleness: 0,
  trajectories: 64,
  trajectoriesSoFar: 768,
  leftOut: 0,
  rewardMean: 0.72,
  successRate: 0.72,
  toolCallRate: 0.95,
  validCallRate: 1,
  kl: 0.012,
  approximateKl: 0.001,
  entropy: 0.2,
  clipFraction: 0.05,
  policyLoss: 0,
  valueLoss: 0.1,
  gradientNorm: 1,
  learningRate: 1e-4,
  logprobGap: 1e-6,
  actionLength: 20,
  turns: 2,
  tokens: { prompt: 2000, action: 1280, observation: 600 },
  seconds: { rollout: 2, train: 2, publish: 0.1, total: 4.1 },
};
const summary: RunSummary = {
  run: "calculator-1",
  steps: 40,
  trajectories: 2560,
  policyVersion: 41,
  seconds: 312,
  named: "calculator-1",
  isResumed: false,
  accuracyBefore: 0,
  accuracyWarmStart: 0.31,
  accuracyAfter: 0.96,
  folder: "runs/calculator-1",
  report: "runs/calculator-1/report.html",
};

function fakeStream(terminal: { isTTY?: boolean; columns?: number } = {}) {
  const written: string[] = [];
  const stream: ViewStream = new Writable({
    write: (chunk, _encoding, done) => {
      written.push(terminalText(String(chunk)));
      done();
    },
  });
  return { stream: Object.assign(stream, terminal), written, text: () => written.join("") };
}

afterEach(() => vi.unstubAllEnvs());

test("writes plain lines where there is no terminal: phases, evaluations, steps, the summary", () => {
  const { stream, text } = fakeStream();
  const view = createView({ stream });
  view.tell({ type: "server", address: "127.0.0.1:7233", ui: "http://127.0.0.1:8233" });
  view.tell(progressEvent(base));
  view.tell(progressEvent({ ...base, phase: "warm-start", done: 0, of: 400 }));
  for (const done of [25, 210, 290, 400])
    view.tell(progressEvent({ ...base, phase: "warm-start", done, of: 400 }));
  view.tell({ type: "evaluation", record: evaluation });
  view.tell(
    progressEvent({ ...base, phase: "step", step: 1, evaluations: [evaluation] }, { done: 3, of: 64 }),
  );
  view.tell(progressEvent({ ...base, phase: "step", step: 12, evaluations: [evaluation] }));
  view.tell({ type: "step", record: stepRecord });
  view.tell({ type: "step", record: { ...stepRecord, step: 13, leftOut: 2 } });
  view.end(summary);
  view.close();
  expect(text()).toMatchInlineSnapshot(`
    "Temporal UI at http://127.0.0.1:8233
    opening the run
    warm start on demonstrations, 400 steps
    warm start 210/400
    held-out accuracy 31.0 %  policy version 1, 300 tasks  8.0 s
    reinforcement learning, 40 steps
    step 12/40  reward 0.72  success 72 %  tool calls 95 %  entropy 0.20  gradient 1  clipped 5 %  kl 0.012  4.1 s
    step 13/40  reward 0.72  success 72 %  tool calls 95 %  entropy 0.20  gradient 1  clipped 5 %  kl 0.012  left out 2  4.1 s
    held-out accuracy  0 % as built → 31.0 % after the warm start → 96.0 % after reinforcement learning
    work               40 steps, 2,560 trajectories, 5 min 12 s in all
    report             runs/calculator-1/report.html
    trajectories       npx everturn trajectories calculator-1 --stage evaluation-v0041
    "
  `);
});

test("writes a line at each quarter of an evaluation, again for the next one", () => {
  const { stream, text } = fakeStream();
  const view = createView({ stream });
  const evaluating: RunProgress = { ...base, phase: "evaluate", child: "run/evaluation-v0000" };
  for (const done of [0, 70, 80, 160, 299, 300]) view.tell(progressEvent(evaluating, { done, of: 300 }));
  view.tell(progressEvent({ ...base, phase: "step", step: 1 }, { done: 3, of: 64 }));
  view.tell(progressEvent(evaluating, { done: 150, of: 300 }));
  view.close();
  expect(text().match(/evaluated.*/g)).toEqual([
    "evaluated 80/300",
    "evaluated 160/300",
    "evaluated 299/300",
    "evaluated 150/300",
  ]);
});

test("a step that is recorded before the run has said how many there are is written once it has", () => {
  const { stream, text } = fakeStream();
  const view = createView({ stream });
  view.tell({ type: "step", record: stepRecord });
  expect(text()).toBe("");
  view.tell(progressEvent({ ...base, phase: "step", step: 13 }));
  expect(text()).toContain("step 12/40 ");
  view.close();
});

test("a step that a diagnosis follows is written before it, with the number of steps in the plan", () => {
  const { stream, text } = fakeStream();
  const view = createView({ stream });
  const plan = samplePlan({ steps: 40, batchSize: 64, tasks: 4, warmStart: false, evaluationEvery: 0 });
  view.tell({ type: "opened", plan, past: { steps: [], evaluations: [] } });
  view.tell({ type: "step", record: stepRecord });
  expect(text()).toBe("");
  const diagnosis = { condition: "cut-actions", title: "Limits cut many actions", step: 12 } as const;
  view.tell({ type: "diagnosis", diagnosis: { ...diagnosis, evidence: "", consequence: "", remedies: [] } });
  expect(text()).toMatch(/^step 12\/40 .*\ndiagnosis cut-actions \(step 12\)/);
  view.close();
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
  view.tell(progressEvent(progress, { done: 16, of: 64 }));
  view.tell({ type: "step", record: stepRecord });
  view.tell(progressEvent(progress, { done: 32, of: 64 }));
  const frame = stripVTControlCharacters(written.at(-1) ?? "").split("\n");
  expect(frame[0]).toMatch(/rolling out trajectories +█{12}░{12} 32\/64 trajectories/);
  expect(frame[1]).toMatch(/step 13\/40 +█{7}░{17} +policy version 13/);
  expect(frame[2]).toMatch(/. +reward 0\.72 +success 72 % +tool calls 95 % +4\.1 s a step/);
  expect(frame[3]).toContain("entropy 0.20  gradient 1  clipped 5 %  kl 0.012");
  expect(frame[4]).toContain("held-out accuracy 31.0 %");
  expect(frame[5]).toMatch(/about 2 min 03 s left/);
  expect(written.at(-1)).toContain("\u001b[6A\u001b[0J");
  view.tell({ type: "note", text: "a note stays above" });
  view.end(summary);
  view.close();
  expect(text().endsWith("npx everturn trajectories calculator-1 --stage evaluation-v0041\n")).toBe(true);
  expect(text().split("\u001b[?25h")).toHaveLength(2);
  expect(process.listenerCount("exit")).toBe(listeners);
});

/** A view on a terminal at times of its own, in seconds, and the last frame that it drew. */
function timedView() {
  const { stream, written } = fakeStream({ isTTY: true, columns: 120 });
  let now = 0;
  const view = screenView(stream, undefined, () => now * 1000);
  const frameAt = (seconds: number, ...told: Parameters<typeof progressEvent>) => {
    now = seconds;
    view.tell(progressEvent(...told));
    const frame = stripVTControlCharacters(written.at(-1) ?? "")
      .replace("\r", "")
      .trimEnd();
    return frame.split("\n").map((line) => line.trimEnd());
  };
  return { view, frameAt };
}

test("says of the warm start how many of its steps are done, and when it may be", () => {
  const { view, frameAt } = timedView();
  // A workflow of an earlier release still names the evaluation before it.
  const warm: RunProgress = { ...base, phase: "warm-start", child: "run/evaluation-v0000", done: 0, of: 400 };
  const evaluated = { done: 300, of: 300 };
  expect(frameAt(1, warm, evaluated)[0]).toMatch(/^warm start on demonstrations +░{24} 0\/400 steps$/);
  expect(frameAt(11, { ...warm, done: 50 }, evaluated)[0]).toMatch(
    /█{3}░{21} 50\/400 steps {2}about 1 min 10 s$/,
  );
  expect(frameAt(14, { ...warm, done: 50 }, evaluated)[0]).toMatch(/50\/400 steps {2}about 1 min 07 s$/);
  view.close();
});

test("tells the parts of a step apart", () => {
  const { view, frameAt } = timedView();
  const inStep: RunProgress = { ...base, phase: "step", step: 13, child: "run/step-0013" };
  expect(frameAt(1, { ...base, phase: "initialize" })[0]).toBe("building the policy");
  expect(frameAt(4, { ...base, phase: "initialize" })[0]).toMatch(/^building the policy +3\.0 s$/);
  expect(frameAt(5, { ...inStep, done: 375, of: 400 })[0]).toBe("rolling out trajectories");
  const rollingOut: RunProgress = { ...base, phase: "step", step: 13, done: 16, of: 64 };
  expect(frameAt(6, rollingOut)[0]).toMatch(/ 16\/64 trajectories$/);
  view.tell({ type: "step", record: stepRecord });
  const training = { phase: "train", done: 0, of: 64 } as const;
  expect(frameAt(8, inStep, training)[0]).toMatch(/^training on 64 trajectories +2\.0 s the last time$/);
  expect(frameAt(11, inStep, training)[0]).toMatch(/^training on 64 .* 3\.0 s, 2\.0 s the last time$/);
  const onExamples = { ...inStep, trainsOnExamples: true } as const;
  expect(frameAt(11, onExamples, { ...training, of: 1 })[0]).toMatch(/^training on examples /);
  const publishing = { ...training, phase: "publish" } as const;
  expect(frameAt(12, inStep, publishing)[0]).toBe("publishing the new version");
  view.close();
});

test("what is left of a run counts its evaluations, and nothing left is not said", () => {
  const { view, frameAt } = timedView();
  const last: RunProgress = { ...base, phase: "evaluate", step: 40, evaluations: [evaluation] };
  view.tell({ type: "step", record: { ...stepRecord, step: 38 } });
  const progress = { ...last, phase: "step", step: 39, evaluationEvery: 39 } as const;
  expect(frameAt(1, progress).at(-1)).toBe("1.0 s, about 24 s left"); // two steps and two evaluations
  view.tell({ type: "step", record: { ...stepRecord, step: 40 } });
  expect(frameAt(3, last).at(-1)).toBe("3.0 s, about 6 s left");
  expect(frameAt(8.5, last).at(-1)).toBe("8.5 s");
  const after = { ...last, evaluations: [evaluation, { ...evaluation, step: 40 }] };
  expect(frameAt(9, after).at(-1)).toBe("9.0 s");
  view.close();
});

test("keeps each line within a narrow terminal, and uses no colour where NO_COLOR is set", () => {
  vi.stubEnv("NO_COLOR", "1");
  const { stream, written } = fakeStream({ isTTY: true, columns: 40 });
  const view = createView({ stream });
  view.tell({ type: "step", record: stepRecord });
  view.tell(
    progressEvent({ ...base, phase: "step", step: 13, evaluations: [evaluation] }, { done: 16, of: 64 }),
  );
  const frame = written.at(-1) ?? "";
  view.close();
  const lines = stripVTControlCharacters(frame).replace("\r", "").split("\n");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(40);
  expect(frame.replace("\u001b[0J", "")).not.toContain("\u001b");
});

test("prints each reason for which trajectories were left out once, whole, above a narrow frame", () => {
  const { stream, text } = fakeStream({ isTTY: true, columns: 40 });
  const view = createView({ stream });
  view.tell(progressEvent({ ...base, phase: "step", step: 13 }, { done: 16, of: 64 }));
  const reason = "search: TOOL_TIMED_OUT: the tool search did not answer within 10 s, five times in a row";
  const record = { ...stepRecord, leftOut: 2, leftOutReasons: { [reason]: 2 } };
  view.tell({ type: "step", record });
  view.tell({ type: "step", record: { ...record, step: 13 } });
  view.close();
  expect(stripVTControlCharacters(text()).split(`step 12: 2 left out: ${reason}\n`)).toHaveLength(2);
  expect(text().split(reason)).toHaveLength(2);
});

test("what does not move is shown as long as it doesn't, below the rest, a few lines at most", () => {
  const { stream, written } = fakeStream({ isTTY: true, columns: 60 });
  const view = createView({ stream });
  const frame = () => stripVTControlCharacters(written.at(-1) ?? "").split("\n");
  view.tell(progressEvent({ ...base, phase: "step", step: 13 }, { done: 16, of: 64 }));
  const usual = frame();
  view.tell({
    type: "waits",
    lines: ["waiting for search (tools) of step-0013/task-00000/0: attempt 3 after 12 s; 503", ..."abcde"],
  });
  expect(frame().length).toBe(usual.length + 5);
  expect(frame().slice(-6, -4).join("")).toBe(
    "waiting for search (tools) of step-0013/task-00000/0: attempt 3 after 12 s; 503",
  );
  view.tell({ type: "waits", lines: [] });
  expect(frame().length).toBe(usual.length);
  view.close();
});

test("keeps standard output free for JSON", () => {
  const error = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const output = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const view = createView({ json: true });
  view.tell({ type: "note", text: "hello" });
  view.close();
  const [errors, outputs] = [error.mock.calls.length, output.mock.calls.length];
  error.mockRestore();
  output.mockRestore();
  expect(errors).toBeGreaterThan(0);
  expect(outputs).toBe(0);
});
