import { type Html, html } from "../../../results/report/html.ts";
import { readRunData } from "../../../results/report/read-run.ts";
import { accuracyPlot } from "../../../results/report/sections/accuracy.ts";
import { diagnoses } from "../../../results/report/sections/diagnoses.ts";
import { planInShort } from "../../../results/report/sections/header.ts";
import { headline } from "../../../results/report/sections/headline.ts";
import { leftOutTable } from "../../../results/report/sections/left-out.ts";
import { plots } from "../../../results/report/sections/plots.ts";
import { linkedStepTable } from "../../../results/report/sections/tables.ts";
import { document, runHeading } from "../layout.ts";
import { livePart } from "../live-part.ts";
import { runPath } from "../paths.ts";
import { stateOf } from "../run-line.ts";
import { link } from "../table.ts";
import { type ShownRun, temporalPage } from "../ui-context.ts";
import { rewardsPlace } from "./rewards-part.ts";

/** The most steps in the table, the newest first. The plots show all. */
const mostSteps = 100;

/** A run's curves, steps and plan. */
export async function runPage(run: ShownRun): Promise<string> {
  const part = livePart(runPath(run.id, "parts", "overview"), await overviewPart(run), 4);
  return document({
    title: run.id,
    content: [runHeading(run.id, "Overview"), part, rewardsPlace(run)],
    unreadable: run.unreadable,
  });
}

/** The part that changes while the run continues. */
export async function overviewPart(run: ShownRun): Promise<Html> {
  const data = await readRunData(run);
  const { steps, evaluations } = data;
  const accuracy = evaluations.length === 0 && steps.length === 0 ? [] : [accuracyPlot(data)];
  const newest = steps.slice(-mostSteps).reverse();
  const linked = linkedStepTable(newest, ({ step }) =>
    link(runPath(run.id, "steps", String(step)), `step ${step}`),
  );
  const isStopped = !run.isLive && run.file.address === undefined && steps.length < run.plan.steps;
  const again = isStopped ? [html` · <code>${`npx everturn resume ${run.id}`}</code> continues it`] : [];
  const server = temporalPage(run, run.id);
  const temporal = server === undefined ? [] : [html` · <a href="${server}">in the Temporal UI</a>`];
  return html`<p class="facts">${run.plan.name} ${stateOf(run, steps.at(-1))}${temporal}${again}</p>${planInShort(data)}${headline(data)}${diagnoses(data)}${accuracy}${plots(data)}${newest.length === 0 ? [] : [html`<h2>Steps</h2>`, linked]}${leftOutTable(steps)}`;
}
