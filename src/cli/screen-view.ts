import type { StepRecord } from "../contracts/generated/step-record.ts";
import type { RunProgress } from "../contracts/run.ts";
import { duration, percent } from "../report/format.ts";
import type { RunView, ViewStream } from "./live-view.ts";
import {
  leftOutReason,
  metric,
  phaseText,
  progressBar,
  remainingSeconds,
  sparkline,
  summaryLines,
} from "./progress-text.ts";
import { line, paintFor, type Span } from "./spans.ts";

const csi = "\u001b[";
const hideCursor = `${csi}?25l`;
const showCursor = `${csi}?25h`;
const clearBelow = `${csi}0J`;
const barWidth = 24;

/** A few lines of a terminal that are drawn again in place; notes stay above them. */
export function screenView(stream: ViewStream, clock: () => number = () => performance.now()): RunView {
  const paint = paintFor(stream);
  const started = clock();
  const records: StepRecord[] = [];
  let latest: Latest | undefined;
  let drawn = 0;
  let isOpen = true;
  const restore = () => stream.write(showCursor);
  stream.write(hideCursor);
  process.once("exit", restore);

  function erase(): string {
    const up = drawn === 0 ? "" : `${csi}${drawn}A`;
    drawn = 0;
    return `\r${up}${clearBelow}`;
  }

  function draw(): void {
    if (!isOpen || latest === undefined) return;
    const width = Math.max(20, (stream.columns ?? 80) - 1);
    const spans = screenLines(latest, records, (clock() - started) / 1000);
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

  return {
    progress: (progress, child, waiting = 0) => {
      latest = { progress, child, waiting };
      draw();
    },
    record: (record) => {
      records.push(record);
      draw();
    },
    note: (text) => {
      stream.write(`${erase()}${text}\n`);
      draw();
    },
    end: (summary) => {
      close();
      const [first = "", ...rest] = summaryLines(summary);
      stream.write(`${[paint("bold", first), ...rest].join("\n")}\n`);
    },
    close,
  };
}

/** What the view was told last. */
interface Latest {
  progress: RunProgress;
  child: { done: number; of: number } | undefined;
  waiting: number;
}

/** What the live view shows, line by line. */
function screenLines(
  { progress, child, waiting }: Latest,
  records: readonly StepRecord[],
  elapsed: number,
): Span[][] {
  const inTrajectories = progress.phase === "evaluate" || progress.phase === "step";
  const { done, of } = child ?? progress;
  const unit = inTrajectories ? "trajectories" : "steps";
  const bar: Span[] = of === 0 ? [] : [["cyan", progressBar(done, of, barWidth)], ` ${done}/${of} ${unit}`];
  const last = records.at(-1);
  const held: Span[] = waiting === 0 ? [] : [["yellow", `  ${waiting} waiting for a person`]];
  const lines: Span[][] = [[["bold", phaseText(progress).padEnd(30)], ...bar, ...held]];
  const shown = Math.max(progress.step, last?.step ?? 0);
  lines.push([
    `step ${shown}/${progress.steps}  `,
    ["cyan", progressBar(last?.step ?? 0, progress.steps, barWidth)],
    `  policy version ${progress.policyVersion}`,
  ]);
  if (last !== undefined) {
    lines.push([
      "reward ",
      [
        "green",
        sparkline(
          records.map((record) => record.rewardMean),
          barWidth,
        ),
      ],
      ["bold", ` ${last.rewardMean.toFixed(2)}`],
      `  success ${percent(last.successRate, 0)}  tool calls ${percent(last.toolCallRate, 0)}`,
      [
        "dim",
        `  ${last.kl === undefined ? "" : `${metric("kl", last.kl)}  `}${duration(last.seconds.total)} a step`,
      ],
      ...leftOutSpan(records),
    ]);
  }
  if (progress.evaluations.length > 0) {
    const values = progress.evaluations.map((record) => percent(record.accuracy));
    lines.push(["held-out accuracy ", ["bold", values.join(" → ")]]);
  }
  const remaining = remainingSeconds(progress, records);
  const left = remaining === undefined ? "" : `, about ${duration(remaining)} of steps left`;
  lines.push([["dim", `${duration(elapsed)}${left}`]]);
  return lines;
}

function leftOutSpan(records: readonly StepRecord[]): Span[] {
  const total = records.reduce((sum, record) => sum + record.leftOut, 0);
  const last = records.findLast((record) => record.leftOut > 0);
  return total === 0 ? [] : [["yellow", `  ${total} left out${leftOutReason(last)}`]];
}
