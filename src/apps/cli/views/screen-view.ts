import { steeringText } from "../../../base/processes/terminal.ts";
import { duration, percent } from "../../../base/text/format.ts";
import type { StepRecord } from "../../../contracts/generated/step-record.ts";
import type { RunEvent } from "../../../control/operations/events.ts";
import type { Phase } from "../../../control/operations/phase.ts";
import type { Diagnosis } from "../../../results/diagnosis/diagnose.ts";
import { diagnosisWriter } from "./diagnosis-text.ts";
import { aboutText, leftText, type PhaseTime, phaseClock, type TimeLeft } from "./estimate.ts";
import {
  learningNumbers,
  progressBar,
  serverLine,
  sparkline,
  stepNumbers,
  summaryLines,
} from "./progress-text.ts";
import { runClock, type TimesOf } from "./run-clock.ts";
import type { RunView, ViewStream } from "./run-view.ts";
import { line, paintFor, type Span } from "./spans.ts";

const csi = steeringText("\u001b[");
const lineStart = steeringText("\r");
const hideCursor = `${csi}?25l`;
const showCursor = `${csi}?25h`;
const clearBelow = `${csi}0J`;
const barWidth = 24;

/** A few lines of a terminal that are redrawn in place. Notes stay above them. */
export function screenView(
  stream: ViewStream,
  timesOf?: TimesOf,
  clock: () => number = () => performance.now(),
): RunView {
  const paint = paintFor(stream);
  const started = clock();
  const records: StepRecord[] = [];
  const phases = phaseClock();
  const whole = runClock(timesOf);
  let latest: Progress | undefined;
  let waits: readonly string[] = [];
  const writeDiagnosis = diagnosisWriter();
  const reasons = new Set<string>(); // why trajectories were left out, each reported once
  let drawn = 0;
  let isOpen = true;
  const restore = () => stream.write(showCursor);
  stream.write(hideCursor);
  process.once("exit", restore);

  function erase(): string {
    const up = drawn === 0 ? "" : `${csi}${drawn}A`;
    drawn = 0;
    return `${lineStart}${up}${clearBelow}`;
  }

  function draw(): void {
    if (!isOpen || latest === undefined) return;
    const width = Math.max(20, (stream.columns ?? 80) - 1);
    const now = clock();
    const times = {
      run: (now - started) / 1000,
      phase: phases.see(latest.phase, now / 1000),
      remaining: whole.left(now / 1000),
    };
    const spans = [...screenLines(latest, records, times), ...waitSpans(waits, width)];
    const text = spans.map((one) => `${line(one, paint, width)}\n`).join("");
    stream.write(erase() + text);
    drawn = spans.length;
  }

  function close(): void {
    if (!isOpen) return;
    isOpen = false;
    process.off("exit", restore);
    stream.write(erase() + showCursor);
  }

  function diagnosisText(diagnosis: Diagnosis): string {
    const [first = "", ...rest] = writeDiagnosis(diagnosis);
    return [paint("yellow", first), ...rest].join("\n");
  }

  function note(text: string): void {
    stream.write(`${erase()}${text}\n`);
    draw();
  }

  /** Reports each new reason as a note, because the redrawn lines are cut at the terminal's width. */
  function noteReasons({ step, leftOutReasons = {} }: StepRecord): void {
    for (const [reason, count] of Object.entries(leftOutReasons)) {
      if (!reasons.has(reason)) note(paint("yellow", `step ${step}: ${count} left out: ${reason}`));
      reasons.add(reason);
    }
  }

  function see(event: Exclude<RunEvent, { type: "note" | "server" | "diagnosis" }>): void {
    whole.see(event, clock() / 1000);
    switch (event.type) {
      case "progress":
        latest = event;
        break;
      case "step":
        records.push(event.record);
        noteReasons(event.record);
        break;
      case "opened":
        records.push(...event.past.steps);
        break;
      case "waits":
        waits = event.lines;
        break;
      case "evaluation":
        return; // the next progress event includes it
    }
    draw();
  }

  return {
    tell: (event) => {
      if (event.type === "note") note(event.text);
      else if (event.type === "diagnosis") note(diagnosisText(event.diagnosis));
      else if (event.type === "server") note(serverLine(event));
      else see(event);
    },
    end: (summary) => {
      close();
      const [first = "", ...rest] = summaryLines(summary);
      stream.write(`${[paint("bold", first), ...rest].join("\n")}\n`);
    },
    close,
  };
}

/** The most waits to show, and the most lines about them. */
const [waitsShown, waitLinesShown] = [4, 12];

/** The waits, wrapped so that a reason is shown as a whole. */
function waitSpans(waits: readonly string[], width: number): Span[][] {
  const lines = waits.slice(0, waitsShown).flatMap((text) => wrapped(text, width));
  return lines.slice(0, waitLinesShown).map((text) => [["yellow", text]]);
}

function wrapped(text: string, width: number): string[] {
  const count = Math.max(1, Math.ceil(text.length / width));
  return Array.from({ length: count }, (_, index) => text.slice(index * width, (index + 1) * width));
}

type Progress = Extract<RunEvent, { type: "progress" }>;

/** In seconds: the time since the view began, the current phase's, and the rest of the run's. */
interface Times {
  run: number;
  phase: PhaseTime;
  remaining: TimeLeft | undefined;
}

/** Seconds below which an estimate is not useful. */
const leastOfPhase = 5;
const leastOfRun = 1;

/** The lines of the live view. */
function screenLines(
  { progress, phase, waiting }: Progress,
  records: readonly StepRecord[],
  times: Times,
): Span[][] {
  const last = records.at(-1);
  const held: Span[] = waiting === 0 ? [] : [["yellow", `  ${waiting} waiting for a person`]];
  const lines: Span[][] = [
    [["bold", phase.text.padEnd(30)], ...doneSpans(phase), ...timeSpans(phase, times.phase, last), ...held],
  ];
  const shown = Math.max(progress.step, last?.step ?? 0);
  lines.push([
    `step ${shown}/${progress.steps}  `,
    ["cyan", progressBar(last?.step ?? 0, progress.steps, barWidth)],
    `  policy version ${progress.policyVersion}`,
  ]);
  if (last !== undefined) {
    const curve = records.flatMap(({ rewardMean, loss }) => rewardMean ?? loss ?? []);
    lines.push([
      ["green", sparkline(curve, barWidth)],
      `  ${stepNumbers(last).join("  ")}`,
      ["dim", `  ${duration(last.seconds.total)} a step`],
      ...leftOutSpan(records),
    ]);
    lines.push([["dim", learningNumbers(last).join("  ")]]);
  }
  if (progress.evaluations.length > 0) {
    const values = progress.evaluations.map((record) => percent(record.accuracy));
    lines.push(["held-out accuracy ", ["bold", values.join(" → ")]]);
  }
  const left = times.remaining && leftText(times.remaining, leastOfRun);
  lines.push([["dim", `${duration(times.run)}${left === undefined ? "" : `, ${left}`}`]]);
  return lines;
}

function doneSpans({ done, of, unit }: Phase): Span[] {
  return of === 0 ? [] : [["cyan", progressBar(done, of, barWidth)], ` ${done}/${of} ${unit}`];
}

/** The estimated end of a counted phase. For others, how long the phase has taken, and took in the last step. */
function timeSpans(phase: Phase, { elapsed, remaining }: PhaseTime, last: StepRecord | undefined): Span[] {
  if (phase.of > 0) {
    const left = aboutText(remaining, leastOfPhase);
    return left === undefined ? [] : [["dim", `  ${left}`]];
  }
  const before =
    phase.part === "train" && last !== undefined ? [`${duration(last.seconds.train)} the last time`] : [];
  return [["dim", [...(elapsed < 1 ? [] : [duration(elapsed)]), ...before].join(", ")]];
}

function leftOutSpan(records: readonly StepRecord[]): Span[] {
  const total = records.reduce((sum, record) => sum + record.leftOut, 0);
  return total === 0 ? [] : [["yellow", `  ${total} left out`]];
}
