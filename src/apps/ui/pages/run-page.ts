import { number, percent } from "../../../base/text/format.ts";
import { type Html, html } from "../../../results/report/html.ts";
import { readReportData } from "../../../results/report/read-run.ts";
import { accuracyPlot } from "../../../results/report/sections/accuracy.ts";
import { diagnoses } from "../../../results/report/sections/diagnoses.ts";
import { planInShort } from "../../../results/report/sections/header.ts";
import { headline } from "../../../results/report/sections/headline.ts";
import { leftOutTable } from "../../../results/report/sections/left-out.ts";
import { plots } from "../../../results/report/sections/plots.ts";
import { stepTable } from "../../../results/report/sections/tables.ts";
import { table } from "../../../results/report/table.ts";
import { document, runHeading } from "../layout.ts";
import { livePart } from "../live-part.ts";
import { runPath } from "../paths.ts";
import { stateOf } from "../run-line.ts";
import { link } from "../table.ts";
import { type ShownRun, temporalPage } from "../ui-context.ts";
import { rewardsPlace } from "./rewards-part.ts";

/** The most steps in the table, the newest first. The plots show all. */
const mostSteps = 200;

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
  const data = await readReportData(run);
  const { steps, evaluations } = data;
  const accuracy = evaluations.length === 0 && steps.length === 0 ? [] : [accuracyPlot(data)];
  const newest = steps.slice(-mostSteps).reverse();
  const rows = newest.map((step) => [
    link(runPath(run.id, "steps", String(step.step)), `step ${step.step}`),
    String(step.policyVersion),
    step.rewardMean === undefined ? "–" : number(step.rewardMean),
    step.successRate === undefined ? "–" : percent(step.successRate),
    step.loss === undefined ? "–" : number(step.loss),
    String(step.examples ?? step.trajectories),
    String(step.leftOut),
  ]);
  const server = temporalPage(run, run.id);
  const temporal = server === undefined ? [] : [html` · <a href="${server}">in the Temporal UI</a>`];
  return html`<p class="facts">${run.plan.name} ${stateOf(run, steps.at(-1))}${temporal}</p>${planInShort(data)}${headline(data)}${diagnoses(data)}${accuracy}${plots(data)}
<h2>Its steps</h2>${rows.length === 0 ? [html`<p class="empty">None yet.</p>`] : [table("Steps", ["step", "version", "reward", "success", "loss", "trained on", "left out"], rows)]}
${leftOutTable(steps)}${stepTable(steps)}`;
}
