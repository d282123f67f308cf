import { counted, number } from "../../../base/text/format.ts";
import { conditions } from "../../../control/operations/query-trajectories.ts";
import { html } from "../../../results/report/html.ts";
import { linePlot } from "../../../results/report/svg/line-plot.ts";
import { table } from "../../../results/report/table.ts";
import { document } from "../layout.ts";
import { runPath, trajectoryPath } from "../paths.ts";
import { link } from "../table.ts";
import type { ShownRun, UiContext } from "../ui-context.ts";

const columns = ["trajectory", "version", "outcome", "reward", "success", "turns", "answer"] as const;

/** The most trajectories of a task to show. */
const most = 500;

/**
 * One task over the whole training: its trajectories from the first version to the last. Throws
 * QUERY_DRIVER_MISSING.
 */
export async function taskPage(context: UiContext, run: ShownRun, task: string): Promise<string> {
  const { rows, total } = await context.tables.use(run, (opened) =>
    opened.ask({ only: conditions({ task }), sort: "version, step", limit: most, skip: 0 }, columns),
  );
  const byVersion = new Map<number, number[]>();
  for (const [, version, , reward] of rows) {
    const rewards = byVersion.get(Number(version ?? 0)) ?? [];
    byVersion.set(Number(version ?? 0), [...rewards, Number(reward)]);
  }
  const means = [...byVersion].map(
    ([version, rewards]) => [version, rewards.reduce((sum, one) => sum + one, 0) / rewards.length] as const,
  );
  const last = Math.max(1, ...byVersion.keys());
  const cells = rows.map(([id, version, outcome, reward, success, turns, answer]) => [
    link(trajectoryPath(String(id)), String(id).slice(run.id.length + 1)),
    String(version ?? "–"),
    String(outcome),
    number(Number(reward)),
    success === true ? "yes" : "no",
    String(turns),
    String(answer ?? "").slice(0, 80),
  ]);
  const plot =
    means.length === 0
      ? []
      : [
          html`<h2>Over training</h2>`,
          linePlot({
            title: "Mean reward by the version that it was tried with",
            series: [{ name: "reward", colour: "blue", dots: true, values: means }],
            format: number,
            from: 0,
            steps: last,
            wide: true,
          }),
        ];
  const content = html`<h1>${task}</h1><p class="facts">${`${counted(total, "trajectory", "trajectories")}${total > most ? `, the first ${most} shown` : ""}`}</p>${plot}
<h2>Its trajectories</h2>${table("Trajectories of the task", ["trajectory", "version", "outcome", "reward", "solved", "turns", "answer"], cells)}`;
  return document({
    title: `${task} in ${run.id}`,
    above: [[runPath(run.id), run.id]],
    content,
    unreadable: run.unreadable,
  });
}
