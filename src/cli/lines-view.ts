import type { StepRecord } from "../contracts/generated/step-record.ts";
import { phaseOf } from "./phase.ts";
import { evaluationLine, stepLine, summaryLines } from "./progress-text.ts";
import type { RunView, ViewStream } from "./run-view.ts";

/** Plain lines: one for each change of phase outside the steps, each evaluation, each step, each note. */
export function linesView(stream: ViewStream): RunView {
  let phase: string | undefined;
  let steps: number | undefined;
  const early: StepRecord[] = []; // recorded before the workflow has said how many steps there are
  let evaluated = Number.NEGATIVE_INFINITY; // the newest version whose evaluation has been written
  const write = (text: string) => stream.write(`${text}\n`);
  const writeEarly = (of?: number) => {
    for (const record of early.splice(0)) write(stepLine(record, of));
  };

  return {
    progress: (progress) => {
      steps = progress.steps;
      for (const record of progress.evaluations.filter((one) => one.policyVersion > evaluated)) {
        write(evaluationLine(record));
        evaluated = record.policyVersion;
      }
      writeEarly(steps);
      const isStep = progress.phase === "step";
      const now = isStep ? "reinforcement learning" : phaseOf(progress).text;
      if (now !== phase && progress.phase !== "done") {
        const size = isStep ? `, ${progress.steps} steps` : progress.of > 0 ? `, ${progress.of} steps` : "";
        write(now + (progress.phase === "evaluate" ? "" : size));
      }
      phase = now;
    },
    waits: () => {}, // notes say what changes
    record: (record) => {
      if (steps === undefined) early.push(record);
      else write(stepLine(record, steps));
    },
    note: write,
    end: (summary) => {
      writeEarly(summary.steps);
      summaryLines(summary).forEach(write);
    },
    close: () => writeEarly(),
  };
}
