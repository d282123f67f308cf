import { counted, duration, number } from "../../../base/text/format.ts";
import { html } from "../../../results/report/html.ts";
import { linePlot } from "../../../results/report/svg/line-plot.ts";
import { table } from "../../../results/report/table.ts";
import { document } from "../layout.ts";
import { runPath, trajectoryPath } from "../paths.ts";
import { queryIndex } from "../query-index.ts";
import { link } from "../table.ts";
import type { ShownRun, UiContext } from "../ui-context.ts";
import { indexNote } from "./index-note.ts";

const byAge = [
  { column: "version", isDescending: false },
  { column: "step", isDescending: false },
];

/** The most trajectories of a task to show. */
const most = 500;

/** One task over the whole training: its trajectories from the first version to the last. */
export async function taskPage(context: UiContext, run: ShownRun, task: string): Promise<string> {
  const index = await context.indexes.of(run);
  const { rows, total } = await queryIndex(index.rows, { task }, byAge, { skip: 0, limit: most });
  const byVersion = new Map<number, number[]>();
  for (const { version, reward } of rows) {
    const rewards = byVersion.get(version ?? 0) ?? [];
    byVersion.set(version ?? 0, [...rewards, reward]);
  }
  const means = [...byVersion].map(
    ([version, rewards]) => [version, rewards.reduce((sum, one) => sum + one, 0) / rewards.length] as const,
  );
  const last = Math.max(1, ...byVersion.keys());
  const cells = rows.map(
    ({ trajectory, version, outcome, reward, success, turns, tool_calls: calls, seconds }) => [
      link(trajectoryPath(trajectory), trajectory.slice(run.id.length + 1)),
      String(version ?? "–"),
      outcome,
      number(reward),
      success ? "yes" : "no",
      String(turns),
      String(calls),
      duration(seconds),
    ],
  );
  const plot =
    means.length === 0
      ? []
      : [
          html`<h2>Over the training</h2>`,
          linePlot({
            title: "Mean reward by policy version",
            series: [{ name: "reward", colour: "blue", dots: true, values: means }],
            format: number,
            from: 0,
            steps: last,
            xLabel: "policy version",
            wide: true,
          }),
        ];
  const content = html`<h1>${task}</h1><p class="facts">${`${counted(total, "trajectory", "trajectories")}${total > most ? `, the first ${most} shown` : ""}`}</p>${indexNote(run.id, index)}${plot}
<h2>Trajectories</h2>${table("Trajectories of the task", ["trajectory", "version", "outcome", "reward", "solved", "turns", "tool calls", "time"], cells)}`;
  return document({
    title: `${task} in ${run.id}`,
    above: [[runPath(run.id), run.id]],
    content,
    unreadable: run.unreadable,
  });
}
