import { counted } from "../../../base/text/format.ts";
import type { StepRecord } from "../../../contracts/generated/step-record.ts";
import type { RunEvent } from "../../../control/operations/events.ts";
import { diagnosisWriter } from "./diagnosis-text.ts";
import { leftText } from "./estimate.ts";
import { evaluationLine, serverLine, stepLine, summaryLines } from "./progress-text.ts";
import { runClock, type TimesOf } from "./run-clock.ts";
import type { RunView, ViewStream } from "./run-view.ts";

/** Seconds below which an estimate is not useful. */
const leastOfRun = 5;

/**
 * Plain lines: one for each change of phase outside the steps, each quarter of the warm start, of an evaluation and of the
 * whole run, each evaluation, each step and each note.
 */
export function linesView(
  stream: ViewStream,
  timesOf?: TimesOf,
  clock: () => number = () => performance.now(),
): RunView {
  const started = clock();
  const whole = runClock(timesOf);
  let parts = 0; // quarters of the run
  let hasAssumed = false; // that tool calls are quick
  let hasStepped = false;
  let phase: string | undefined;
  let steps: number | undefined;
  const writeDiagnosis = diagnosisWriter();
  const early: StepRecord[] = []; // recorded before the workflow has reported its first phase
  const write = (text: string) => stream.write(`${text}\n`);
  const writeEarly = () => {
    for (const record of early.splice(0)) write(stepLine(record, steps));
  };

  let quarters = 0;

  /** Writes a line at each quarter of a phase, but not at its end. */
  function writeQuarter(what: string, { done, of }: { done: number; of: number }): void {
    if (of === 0) return;
    const now = Math.floor((4 * done) / of);
    if (now > quarters && now < 4) write(`${what} ${done}/${of}`);
    quarters = now;
  }

  function writePhase({ progress, phase: shown }: Extract<RunEvent, { type: "progress" }>): void {
    steps = progress.steps;
    writeEarly();
    const isStep = progress.phase === "step";
    const now = isStep
      ? progress.trainsOnExamples
        ? "training on examples"
        : "reinforcement learning"
      : shown.text;
    if (now !== phase) quarters = 0;
    if (now !== phase && progress.phase !== "done") {
      const size = isStep
        ? `, ${counted(progress.steps, "step")}`
        : progress.of > 0
          ? `, ${counted(progress.of, "step")}`
          : "";
      write(now + (progress.phase === "evaluate" ? "" : size));
    }
    phase = now;
    if (progress.phase === "warm-start") writeQuarter("warm start", progress);
    if (progress.phase === "evaluate") writeQuarter("evaluated", shown);
  }

  /** At each quarter of the run, how long the rest will take. */
  function writeRest(): void {
    const now = clock() / 1000;
    const elapsed = now - started / 1000;
    const left = whole.left(now);
    if (left === undefined || left.seconds < 0) return;
    const part = Math.floor((4 * elapsed) / (elapsed + left.seconds));
    const text = leftText(left, leastOfRun);
    const share = ["", "a quarter", "half", "three quarters"][part];
    if (hasAssumed && !left.assumesQuickTools) {
      if (!hasStepped) return; // the first step shows more than an evaluation
      if (text !== undefined) write(`${text}, as measured after the warm start`);
      [hasAssumed, parts] = [false, part];
      return;
    }
    if (part > parts && text !== undefined && share !== undefined) {
      const why = left.assumesQuickTools ? ": no trajectory has called a tool yet" : "";
      write(`${share} of the time is over, ${text}${why}`);
      hasAssumed = left.assumesQuickTools;
    }
    parts = Math.max(parts, part);
  }

  return {
    tell: (event) => {
      whole.see(event, clock() / 1000);
      switch (event.type) {
        case "note":
          return void write(event.text);
        case "server":
          return void write(serverLine(event));
        case "progress":
          writePhase(event);
          return writeRest();
        case "evaluation":
          return void write(evaluationLine(event.record));
        case "step":
          hasStepped = true;
          if (phase === undefined) early.push(event.record);
          else write(stepLine(event.record, steps));
          return;
        case "diagnosis":
          writeEarly();
          return void writeDiagnosis(event.diagnosis).forEach(write);
        case "opened":
          steps = event.plan.steps; // an earlier command printed the past
          return;
        case "waits":
          return; // notes report all changes
      }
    },
    end: (summary) => {
      writeEarly();
      summaryLines(summary).forEach(write);
    },
    close: writeEarly,
  };
}
