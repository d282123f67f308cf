import { number, percent, shortPercent } from "../../../base/text/format.ts";
import type { StepRecord } from "../../../contracts/generated/step-record.ts";
import { html } from "../../../results/report/html.ts";
import { type RunData, readRunData } from "../../../results/report/read-run.ts";
import type { Colour } from "../../../results/report/svg/frame.ts";
import { linePlot, type Series } from "../../../results/report/svg/line-plot.ts";
import { table } from "../../../results/report/table.ts";
import { document } from "../layout.ts";
import { runPath, withQuery } from "../paths.ts";
import { link } from "../table.ts";
import type { ShownRun } from "../ui-context.ts";

type Read = (record: StepRecord) => number | undefined;

const curves: [title: string, read: Read, format: (value: number) => string][] = [
  ["Reward: mean of a step's batch", ({ rewardMean }) => rewardMean, number],
  ["Success rate", ({ successRate }) => successRate, shortPercent],
  ["Uniform groups", ({ uniformGroupShare }) => uniformGroupShare, shortPercent],
  ["Loss", ({ loss }) => loss, number],
  ["Held-out loss", ({ heldOutLoss }) => heldOutLoss, number],
  ["KL, nats", ({ kl }) => kl, number],
  ["Entropy, nats", ({ entropy }) => entropy, number],
  ["Gradient norm", ({ gradientNorm }) => gradientNorm, number],
  ["Action tokens of a trajectory", ({ actionLength }) => actionLength, number],
  ["Turns of a trajectory", ({ turns }) => turns, number],
  ["Seconds of a step", ({ seconds }) => seconds.total, number],
];

const colours: readonly Colour[] = ["blue", "orange", "aqua", "violet"];

/** The most runs in one plot: each color once as a line and once dashed. */
export const mostRuns = 2 * colours.length;

/** Several runs in one plot: their curves, and their current states. */
export async function compareRunsPage(runs: readonly ShownRun[]): Promise<string> {
  const all = await Promise.all(runs.map(readRunData));
  const mostSteps = Math.max(1, ...all.map(({ plan }) => plan.steps));
  const series = (values: (data: RunData) => Series["values"], dots = false): Series[] =>
    all.map((data, index) => ({
      name: data.run,
      colour: colours[index % colours.length] ?? "blue",
      dashed: index >= colours.length || (all.length === 2 && index === 1),
      dots,
      values: values(data),
    }));
  const accuracySeries = series(
    ({ evaluations }) => evaluations.map(({ step, accuracy }) => [step, accuracy] as const),
    true,
  );
  const cards = curves.flatMap(([title, read, format]) => {
    const drawn = series(({ steps }) =>
      steps.flatMap((record) => {
        const value = read(record);
        return value === undefined ? [] : [[record.step, value] as const];
      }),
    );
    return drawn.every(({ values }) => values.length === 0)
      ? []
      : [linePlot({ title, series: drawn, steps: mostSteps, format })];
  });
  const rows = all.map((data) => [
    link(runPath(data.run), data.run),
    data.plan.name,
    `${data.steps.length} of ${data.plan.steps}`,
    optional(data.steps.at(-1)?.rewardMean, number),
    optional(data.evaluations[0]?.accuracy, percent),
    optional(data.evaluations.at(-1)?.accuracy, percent),
  ]);
  const [first, second, ...others] = runs;
  const pair =
    first === undefined || second === undefined || others.length > 0
      ? []
      : [
          html`<p>${link(withQuery("/compare", { first: first.id, second: second.id }), "Compare their last evaluations task by task")}</p>`,
        ];
  const content =
    runs.length === 0
      ? html`<h1>Runs compared</h1><p class="empty">Select runs in the ${link("/", "list of runs")}.</p>`
      : html`<h1>Runs compared</h1>${table("The runs", ["run", "pipeline", "steps", "last reward", "first held out", "last held out"], rows)}${pair}
<h2>Curves</h2><div class="grid">${linePlot({ title: "Held-out accuracy", series: accuracySeries, steps: mostSteps, format: shortPercent, from: 0, low: 0, high: 1, wide: true })}${cards}</div>`;
  return document({
    title: runs.length === 0 ? "Runs compared" : runs.map(({ id }) => id).join(" and "),
    content,
  });
}

function optional(value: number | undefined, write: (value: number) => string): string {
  return value === undefined ? "–" : write(value);
}
