import { counted, duration, grouped, number, percent } from "../../../base/text/format.ts";
import type { Probe } from "../../../control/operations/probe-pipeline.ts";
import { tableLines } from "./table.ts";

/** Lines about a probe's measurements: what the policy does, then time and memory. */
export function probeText({
  record,
  step,
  warmStartSteps,
  evaluationTask,
  warmStartStep,
  start,
  run,
  warnings,
  memory,
}: Probe): string[] {
  const parts = `rollout ${duration(step.rollout)}, training ${duration(step.train)}, publishing ${duration(step.publish)}`;
  const rows = [
    ...rolloutRows(record, warmStartSteps),
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
  return [
    ...tableLines([{ title: "" }, { title: "" }], rows).slice(1),
    ...warnings.map((warning) => `  note: ${warning}`),
  ];
}

/** What the trajectories of the probe's first step did. A step on examples has none. */
function rolloutRows(record: Probe["record"], warmStartSteps: number): string[][] {
  const { successRate, rewardMean } = record;
  if (successRate === undefined || rewardMean === undefined) return [];
  const row = (title: string, value: number | undefined, text: (value: number) => string) =>
    value === undefined ? [] : [[`  ${title}`, text(value)]];
  const share = (value: number) => percent(value);
  const tokens = (value: number) => grouped(Math.round(value));
  return [
    [
      "  trajectories",
      `${grouped(record.trajectories)}${warmStartSteps === 0 ? "" : `, after ${counted(warmStartSteps, "supervised step")}`}`,
    ],
    ...row("solved", successRate, share),
    ...row("mean reward", rewardMean, number),
    ...row("reward spread within groups", record.rewardSpreadWithin, number),
    ...row("groups with equal rewards", record.uniformGroupShare, share),
    ...row("trajectories with a tool call", record.toolCallRate, share),
    ...row("valid calls", record.validCallRate, share),
    ...row("unreadable calls", record.unreadableCallRate, share),
    ...row("action tokens of a trajectory", record.actionLength, tokens),
    ...row("turns of a trajectory", record.turns, number),
    ...row("cut actions", record.cutActionShare, share),
    ...row("trajectories that a limit ended", record.limitedShare, share),
  ];
}
