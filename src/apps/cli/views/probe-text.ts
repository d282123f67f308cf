import { duration } from "../../../base/text/format.ts";
import type { Probe } from "../../../control/operations/probe-pipeline.ts";
import { tableLines } from "./table.ts";

/** Lines about a probe's measurements. */
export function probeText({ step, evaluationTask, warmStartStep, start, run, memory }: Probe): string[] {
  const parts = `rollout ${duration(step.rollout)}, training ${duration(step.train)}, publishing ${duration(step.publish)}`;
  const rows = [
    ["  until it begins", duration(start)],
    ...(warmStartStep === undefined ? [] : [["  a supervised step", duration(warmStartStep)]]),
    ["  a step", `${duration(step.total)}: ${parts}`],
    ["  a task of an evaluation", duration(evaluationTask)],
    ["  the whole run, about", duration(run)],
    ...memory.map(({ process, bytes }) => [
      `  memory of ${process}, at most`,
      `${(bytes / 2 ** 20).toFixed(0)} MiB`,
    ]),
  ];
  return tableLines([{ title: "" }, { title: "" }], rows).slice(1);
}
